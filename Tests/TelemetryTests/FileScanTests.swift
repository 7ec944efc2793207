import Bytes
import Files
import Foundation
import Telemetry
import TestSupport
import Testing

/// A store whose files specify their findings.
private struct ScriptStore: FileStore {
    let kind = StoreKind("script")
    let names: [String]
    var carriesCredentials = false

    var path: String { "store" }
    var folderPath: String { "store" }
    var system: SystemName? { nil }
    var fileCount: Int { names.count }
    var isReadByOneJob: Bool { false }
    var sizeLimit = FileSizeLimit.usual

    func path(ofFile index: Int, name: inout [UInt8]) -> String {
        name = Array(names[index].utf8)
        return "store/\(names[index])"
    }
    func makeReader(in context: StoreContext) -> any FileReader { ScriptReader() }
}

/// Reads a number as a record whose payload has this number of bytes, `?` as a problem, and any other line as a reject.
private struct ScriptReader: FileReader {
    mutating func read(_ bytes: [UInt8], file index: Int, into output: inout ScanOutput) {
        let path = output.path
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self)
            if let size = Int(text) {
                output.add(
                    Record(
                        system: SystemName("x"), type: "y", id: path, payload: [UInt8](repeating: 0, count: size),
                        source: Source(capture: "c", path: path, store: StoreKind("script"), index: index)))
            } else if text == "?" {
                output.report(Problem("odd", path))
            } else {
                output.rejects.append(Reject("P2 no number", offset: line.startIndex, length: line.count))
            }
        }
    }
}

/// Tests reading stores whose files are parsed one by one.
@Suite struct FileScanTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func outputs(
        of store: ScriptStore, _ files: Range<Int>? = nil, in folder: TemporaryFolder? = nil
    ) throws -> [ScanOutput] {
        let tree = FileTree(try Folder(path: (folder ?? self.folder).path))
        let context = StoreContext(
            capture: "c", tree: tree, container: Container(path: "", identifier: nil),
            neighbors: ContainerStores([store]),
            options: ScanOptions())
        var scan: any StoreScan = store.scan(files ?? 0..<store.fileCount, in: context)
        var outputs: [ScanOutput] = []
        var hasMore = true
        while hasMore {
            var output = ScanOutput(capture: "c")
            hasMore = try scan.read(into: &output)
            outputs.append(output)
        }
        return outputs
    }

    private func makeStore(_ contents: [String], carriesCredentials: Bool = false) throws -> ScriptStore {
        let names = contents.indices.map { "f\($0)" }
        try folder.makeFolder("store")
        for (name, text) in zip(names, contents) { try folder.put(text, "store/\(name)") }
        return ScriptStore(names: names, carriesCredentials: carriesCredentials)
    }

    private func indices(_ output: ScanOutput) -> [Int] { output.records.map(\.source.index) }

    @Test("Files are read in the order of the store, and findings have the path of their file.")
    func order() throws {
        let outputs = try outputs(of: makeStore(["1", "?\n2\n!", "", "3\n4"]))
        #expect(outputs.count == 1)
        #expect(outputs.map(indices) == [[0, 1, 3, 3]])
        #expect(outputs[0].records.map(\.payload.count) == [1, 2, 3, 4])
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
        #expect(outputs.map(\.bytesRead).reduce(0, +) == 5 * 7)
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
        let outputs = try outputs(of: makeStore(["secret"], carriesCredentials: carriesCredentials))
        let items = outputs.flatMap(\.quarantined)
        #expect(items.map(\.isStored) == [!carriesCredentials])
        #expect(items.map(\.sha256) == [PayloadHash.hex(of: Array("secret".utf8))])
        #expect(items.map(\.size) == [6])
    }

    @Test("Only the hash of a large file with credentials is put into quarantine.", arguments: [false, true])
    func largeCredentials(carriesCredentials: Bool) throws {
        let store = try makeStore(["1", "", "3"], carriesCredentials: carriesCredentials)
        #expect(truncate(folder("store/f1"), InputLimits.storeFileSize + 1) == 0)
        let outputs = try outputs(of: store)
        #expect(outputs.flatMap(indices) == [0, 2])
        #expect(outputs.flatMap(\.quarantined).map(\.reject.reason) == ["too-large more than 32 MiB"])
        #expect(outputs.flatMap(\.quarantined).map(\.isStored) == [!carriesCredentials])
    }

    @Test("A system can define its own size limit and its code.")
    func ownLimit() throws {
        var store = try makeStore(["1", "2"], carriesCredentials: false)
        store.sizeLimit = FileSizeLimit(bytes: 1 << 20, code: "X10")
        #expect(truncate(folder("store/f1"), (1 << 20) + 1) == 0)
        let outputs = try outputs(of: store)
        #expect(outputs.flatMap(indices) == [0])
        #expect(outputs.flatMap(\.quarantined).map(\.reject.reason) == ["X10 more than 1 MiB"])
    }

    @Test(
        "A file is searched for credentials if only its contents can show that it contains them.",
        arguments: [("a beaconKey b", false), ("a beacon key b", true)])
    func credentialsByContents(text: String, isStored: Bool) throws {
        try folder.put(text, "file")
        let tree = try Folder(path: folder.path)
        let file = StoreFile(
            name: Array("file".utf8), path: "p", kind: StoreKind("script"), credentials: .ifContaining("beaconKey"))
        var (reading, output) = (StoreFileBuffer(), ScanOutput(capture: "c"))
        let options = ScanOptions()
        #expect(reading.read(file, limit: FileSizeLimit(bytes: 100, code: "large"), in: tree, options, into: &output))
        output.rejects = [Reject("P2 x", offset: 0, length: 1)]
        reading.quarantineRejects(of: file, in: &output)
        #expect(output.quarantined.map(\.isStored) == [isStored])
        #expect(output.rejects.isEmpty)
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
        #expect(outputs[0].records.isEmpty)
        #expect(outputs[0].problems.map { "\($0.path) \($0.problem.code)" } == ["store unreadable"])
    }
}
