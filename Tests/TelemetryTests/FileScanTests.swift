import Bytes
import Files
import Foundation
import Hashing
import Telemetry
import TestSupport
import Testing

/// A store whose files specify their findings.
private struct ScriptStore: Store {
    let kind = StoreKind("script")
    let names: [String]
    var credentials = StoreFile.Credentials.never
    var sizeLimit = FileSizeLimit.usual
    var problemIfTooLarge: Problem?

    var path: String { "store" }
    var folderPath: String { "store" }
    var system: SystemName? { nil }
    var fileCount: Int { names.count }

    func file(at index: Int) -> StoreFile? {
        guard names[index] != "report" else { return nil }
        return StoreFile(
            name: Array(names[index].utf8), path: "store/\(names[index])", kind: kind, credentials: credentials,
            sizeLimit: sizeLimit, problemIfTooLarge: problemIfTooLarge)
    }
    func report(in context: StoreContext) -> StoreReport? { StoreReport(facts: ["a fact"]) }
    func makeReader(in context: StoreContext) -> any StoreReader { ScriptReader() }
}

/// Reads a number as a record whose payload has this number of bytes, `?` as a problem, `later` as a record that is added
/// at the end, and any other line as a reject.
private struct ScriptReader: StoreReader {
    var rejects: ArraySlice<Reject> = []
    var later: [Record] = []

    mutating func read(
        _ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput
    ) throws -> Bool {
        guard rejects.isEmpty else { return try output.reject(&rejects) }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self)
            if text == "later" {
                later.append(record(0, source.record(at: index)))
            } else if let size = Int(text) {
                try output.add(record(size, source.record(at: index)))
            } else if text == "?" {
                output.report(Problem("odd", source.path))
            } else {
                rejects.append(Reject("P2 no number", offset: line.startIndex, length: line.count))
            }
        }
        return try output.reject(&rejects)
    }

    mutating func finish(into output: inout ScanOutput) throws -> Bool {
        if let next = later.popLast() { try output.add(next) }
        return !later.isEmpty
    }

    private func record(_ size: Int, _ source: Source) -> Record {
        Record(
            system: SystemName("x"), type: "y", id: source.path, payload: [UInt8](repeating: 0, count: size),
            source: source)
    }
}

/// Tests reading stores whose files are parsed one by one.
@Suite struct FileScanTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func outputs(
        of store: ScriptStore, _ files: Range<Int>? = nil, _ options: ScanOptions = ScanOptions()
    ) throws -> [ScanOutput] {
        let tree = FileTree(try Folder(path: folder.path))
        let context = StoreContext(
            capture: "c", tree: tree, container: Container(path: "", identifier: nil),
            neighbors: ContainerStores([store]), options: options)
        var scan: any StoreScan = store.scan(files ?? 0..<store.fileCount, in: context)
        var outputs: [ScanOutput] = []
        var hasMore = true
        while hasMore {
            var output = ScanOutput(capture: "c", writingWith: options)
            hasMore = try output.fill { try scan.read(into: &$0) }
            outputs.append(output)
        }
        return outputs
    }

    private func makeStore(
        _ contents: [String], credentials: StoreFile.Credentials = .never
    ) throws -> ScriptStore {
        let names = contents.indices.map { "f\($0)" }
        try folder.makeFolder("store")
        for (name, text) in zip(names, contents) { try folder.put(text, "store/\(name)") }
        return ScriptStore(names: names, credentials: credentials)
    }

    private func indices(_ output: ScanOutput) -> [Int] {
        output.entries.compactMap { entry in
            let line = String(decoding: output.lines[entry.line], as: UTF8.self)
            return line.firstMatch(of: /"index":(\d+)/).flatMap { Int($0.1) }
        }
    }

    @Test("Files are read in the order of the store, and findings have the path of their file.")
    func order() throws {
        let outputs = try outputs(of: makeStore(["1", "?\n2\n!", "", "3\n4"]))
        #expect(outputs.count == 1)
        #expect(outputs.map(indices) == [[0, 1, 3, 3]])
        #expect(outputs[0].entries.map(\.written.payload.count) == [1, 2, 3, 4])
        #expect(
            outputs[0].problems == [LocatedProblem(capture: "c", path: "store/f1", problem: Problem("odd", "store/f1"))]
        )
        #expect(outputs[0].quarantined.map(\.path) == ["store/f1"])
        #expect(outputs[0].bytesRead == 1 + 5 + 0 + 3)
    }

    @Test("A range of the files is read alone.", arguments: [0..<0, 1..<3, 3..<4])
    func part(files: Range<Int>) throws {
        let store = try makeStore(["1", "2", "3", "4"])
        #expect(try outputs(of: store, files).flatMap(indices) == Array(files))
    }

    @Test("Reading continues after a full output, and each file is read once.")
    func fullOutputs() throws {
        let contents = Array(repeating: "3000000", count: 5)
        let outputs = try outputs(of: makeStore(contents))
        #expect(outputs.map(indices) == [[0, 1], [2, 3], [4]])
        #expect(outputs.map(\.isFull) == [true, true, false])
        #expect(outputs.map(\.bytesRead) == [14, 14, 7])
    }

    @Test("An output that the last file fills is the last output.")
    func fullAtTheEnd() throws {
        #expect(try outputs(of: makeStore(["3000000", "3000000"])).map(indices) == [[0, 1]])
    }

    @Test("The rejects of one file fill several outputs before the next file is read.")
    func manyRejects() throws {
        let lines = (0..<10_000).map { "junk \($0)" }
        let text = "7\n" + lines.joined(separator: "\n")
        let outputs = try outputs(of: makeStore([text, "8"]))
        #expect(outputs.count == 3)
        #expect(outputs.allSatisfy { $0.quarantined.count <= 4096 })
        let items = outputs.flatMap(\.quarantined)
        #expect(items.count == lines.count)
        for (item, line) in zip(items, lines) {
            #expect(item.sha256 == PayloadHash.hex(of: Array(line.utf8)))
            #expect(item.size == line.utf8.count)
            #expect(item.isStored)
        }
        #expect(items.map { $0.reject.offset ?? -1 } == items.map { $0.reject.offset ?? -1 }.sorted())
        #expect(outputs.map(indices) == [[0], [], [1]])
        #expect(outputs.map(\.bytesRead).reduce(0, +) == text.utf8.count + 1)
    }

    @Test("Only the hash of a file with credentials is put into quarantine.", arguments: [false, true])
    func credentials(carriesCredentials: Bool) throws {
        let outputs = try outputs(of: makeStore(["secret"], credentials: carriesCredentials ? .always : .never))
        let items = outputs.flatMap(\.quarantined)
        #expect(items.map(\.isStored) == [!carriesCredentials])
        #expect(items.map(\.sha256) == [PayloadHash.hex(of: Array("secret".utf8))])
        #expect(items.map(\.size) == [6])
    }

    @Test("Only the hash of a large file with credentials is put into quarantine.", arguments: [false, true])
    func largeCredentials(carriesCredentials: Bool) throws {
        let store = try makeStore(["1", "", "3"], credentials: carriesCredentials ? .always : .never)
        #expect(truncate(folder("store/f1"), InputLimits.storeFileSize + 1) == 0)
        let outputs = try outputs(of: store)
        #expect(outputs.flatMap(indices) == [0, 2])
        #expect(outputs.flatMap(\.quarantined).map(\.reject.reason) == ["too-large more than 32 MiB"])
        #expect(outputs.flatMap(\.quarantined).map(\.isStored) == [!carriesCredentials])
    }

    @Test("A system can define its own size limit and its code.")
    func ownLimit() throws {
        var store = try makeStore(["1", "2"])
        store.sizeLimit = FileSizeLimit(bytes: 1 << 20, code: "X10")
        #expect(truncate(folder("store/f1"), (1 << 20) + 1) == 0)
        let outputs = try outputs(of: store)
        #expect(outputs.flatMap(indices) == [0])
        #expect(outputs.flatMap(\.quarantined).map(\.reject.reason) == ["X10 more than 1 MiB"])
    }

    @Test("A problem can replace the quarantine of a large file.")
    func problemIfTooLarge() throws {
        var store = try makeStore(["1", "2"])
        store.sizeLimit = FileSizeLimit(bytes: 1 << 20, code: "X10")
        store.problemIfTooLarge = Problem("X17", "not read")
        #expect(truncate(folder("store/f1"), (1 << 20) + 1) == 0)
        let outputs = try outputs(of: store)
        #expect(outputs.flatMap(\.quarantined).isEmpty)
        #expect(outputs.flatMap(\.problems).map { "\($0.path) \($0.problem.code)" } == ["store/f1 X17"])
    }

    @Test(
        "A file is searched for credentials if only its contents can show that it contains them.",
        arguments: [("a beaconKey b", false), ("a beacon key b", true)])
    func credentialsByContents(text: String, isStored: Bool) throws {
        let outputs = try outputs(of: makeStore([text], credentials: .ifContaining("beaconKey")))
        #expect(outputs.flatMap(\.quarantined).map(\.isStored) == [isStored])
    }

    @Test("The bytes of rejects are stored at once, and equal bytes only once.")
    func spool() throws {
        var options = ScanOptions()
        let spool = QuarantineSpool(folder: "/tmp", limit: 10)
        options.quarantine = spool
        let found = try outputs(of: makeStore(["junk\n1", "junk", "too long junk"]), nil, options)
        for name in ["f0", "f1", "f2"] { #expect(unlink(folder("store/\(name)")) == 0) }
        let bytes = try found.flatMap(\.quarantined).map { try spool.bytes(of: #require(ContentHash(hex: $0.sha256))) }
        #expect(bytes == [Array("junk".utf8), Array("junk".utf8), nil])
    }

    @Test("A full spool for rejects ends the scan.")
    func fullSpool() throws {
        var options = ScanOptions()
        options.quarantine = QuarantineSpool(folder: "/nonexistent", limit: 10)
        let store = try makeStore(["1", "junk"])
        #expect(throws: FileError.self) { try outputs(of: store, nil, options) }
        do { _ = try outputs(of: store, nil, options) } catch let error as FileError {
            #expect(error.operation == .spool)
        }
    }

    @Test("A unit that is not a file is the report on the store, which is made only on request.")
    func report() throws {
        var store = try makeStore(["1"])
        store = ScriptStore(names: ["report"] + store.names)
        var options = ScanOptions()
        for isRequested in [false, true] {
            options.reportsQueues = isRequested
            let outputs = try outputs(of: store, nil, options)
            #expect(outputs.flatMap(\.reports).flatMap(\.report.facts) == (isRequested ? ["a fact"] : []))
            #expect(outputs.flatMap(indices) == [1])
        }
    }

    @Test("Findings that depend on several files follow the last file, even if it cannot be read.")
    func finish() throws {
        let store = try makeStore(["later\n1", "2", "later"])
        #expect(try outputs(of: store).flatMap(indices) == [0, 1, 2, 0])
        #expect(unlink(folder("store/f2")) == 0)
        #expect(try outputs(of: store).flatMap(indices) == [0, 1, 0])
    }

    @Test("A file that cannot be read is reported, and the other files are read.")
    func unreadableFile() throws {
        let store = try makeStore(["1", "2", "3"])
        #expect(unlink(folder("store/f1")) == 0)
        let outputs = try outputs(of: store)
        #expect(outputs.map(indices) == [[0, 2]])
        #expect(outputs[0].problems.map(\.path) == ["store/f1"])
        #expect(outputs[0].problems.map(\.problem.code) == ["unreadable"])
    }

    @Test("A missing folder is reported once.")
    func missingFolder() throws {
        let outputs = try outputs(of: ScriptStore(names: ["f0", "f1"]))
        #expect(outputs.count == 1)
        #expect(outputs[0].entries.isEmpty)
        #expect(outputs[0].problems.map { "\($0.path) \($0.problem.code)" } == ["store unreadable"])
    }
}
