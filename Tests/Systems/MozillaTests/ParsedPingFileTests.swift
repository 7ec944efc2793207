import Files
import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Files of a ping folder whose names tell no time.
@Suite struct ParsedPingFileTests {
    private static let folderName = "MozTelemetry-Default-core"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func envelope(_ timestamp: String) -> String {
        StoredJSON.envelope("core", StoredJSON.measurements("core"), ["timestamp": timestamp])
    }

    /// What the ping store makes of the folder.
    /// - Parameter use: what happens to the memory for files before.
    private func pings(_ use: (FileTree) -> Void = { _ in }) throws -> PingFolder? {
        let tree = FileTree(try Folder(path: folder.path))
        use(tree)
        let entries = try tree.folder(at: Self.folderName).entries()
        var files = FileNames(of: entries)
        for entry in 0..<entries.count { files.append(entry) }
        var look = FolderLook(
            try tree.folder(at: Self.folderName), path: Self.folderName, name: Self.folderName,
            base: Self.folderName + "/", files: files, folders: [], tree: tree, excluded: [])
        return MozillaStores().store(ofFolder: &look) as? PingFolder
    }

    /// The names of the files; each path ends with the name.
    private static func names(of pings: PingFolder) -> [String] {
        var name: [UInt8] = []
        return (0..<pings.fileCount).map { index in
            let path = pings.path(ofFile: index, name: &name)
            #expect(path == "\(folderName)/\(String(decoding: name, as: UTF8.self))")
            return String(decoding: name, as: UTF8.self)
        }
    }

    @Test("a file is parsed once for its place in the order and for its pings")
    func parsedOnce() throws {
        try folder.put(envelope("20"), "\(Self.folderName)/b.json")
        try folder.put(envelope("10"), "\(Self.folderName)/c.json")
        try folder.put("[{", "\(Self.folderName)/broken.json")
        try folder.put(envelope("15"), "\(Self.folderName)/-t-15.0.json")
        let pings = try #require(try pings())
        let names = Self.names(of: pings)
        #expect(names == ["broken.json", "c.json", "-t-15.0.json", "b.json"])
        #expect((0..<4).map { pings.parsed($0) != nil } == [true, true, false, true])

        // With nothing to parse, all that comes out is what was parsed before.
        var (reader, output) = (PingReader(at: .folder("core"), in: pings), ScanOutput(capture: "c"))
        for index in 0..<pings.fileCount {
            reader.read([], file: index, into: &output)
        }
        #expect(output.records.map(\.time) == [Timestamp(milliseconds: 10_000), Timestamp(milliseconds: 20_000)])
        #expect(output.rejects.map(\.reason) == ["P2 JSON cut short", "P1 empty file"])
    }

    @Test("what was parsed gives the same records as the bytes, again and again")
    func sameRecords() {
        let bytes = Array(envelope("\"7.5\"").utf8)
        let parsed = ParsedPingFile(bytes)
        var reader = PingReader(at: .folder("core"))
        var (once, again) = (ScanOutput(capture: "c"), ScanOutput(capture: "c"))
        for _ in 0..<2 {
            reader.readPingFile(bytes, parsed: parsed, into: &once)
            reader.readPingFile(bytes, into: &again)
        }
        #expect(once.records.count == 2)
        #expect(once.records == again.records)
    }

    @Test("files beyond the memory for them are in order and parsed again")
    func beyondTheAllowance() throws {
        for number in 0..<4 { try folder.put(envelope("\(9 - number)"), "\(Self.folderName)/n\(number).json") }
        let found = try pings { tree in
            for size in (0..<30).reversed() { while tree.takeRoom(1 << size) {} }
        }
        let pings = try #require(found)
        let names = Self.names(of: pings)
        #expect(names == ["n3.json", "n2.json", "n1.json", "n0.json"])
        #expect((0..<4).allSatisfy { pings.parsed($0) == nil })
    }
}
