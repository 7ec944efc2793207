import Files
import Telemetry
import TestSupport
import Testing

@testable import Mozilla

@Suite struct PingFolderTests {
    private static let folderName = "MozTelemetry-Default-core"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func envelope(_ timestamp: String) -> String {
        StoredJSON.envelope("core", StoredJSON.measurements("core"), ["timestamp": timestamp])
    }

    private func pings() throws -> PingFolder? {
        let tree = FileTree(try Folder(path: folder.path))
        let files = try tree.folder(at: Self.folderName).entries().map(\.name)
        var look = InspectedFolder(
            try tree.folder(at: Self.folderName), path: Self.folderName, name: Self.folderName,
            base: Self.folderName + "/", files: files, folders: [], tree: tree, excluded: [])
        return MozillaStores().store(ofFolder: &look) as? PingFolder
    }

    @Test("Files are sorted by the time in the name, or in the envelope if the name contains none")
    func fileOrder() throws {
        try folder.put(envelope("20"), "\(Self.folderName)/b.json")
        try folder.put(envelope("10"), "\(Self.folderName)/c.json")
        try folder.put(envelope("10"), "\(Self.folderName)/a.json")
        try folder.put("[{", "\(Self.folderName)/broken.json")
        try folder.put(envelope("3"), "\(Self.folderName)/-t-15.0.json")
        let pings = try #require(try pings())
        let names = try (0..<pings.fileCount).map { index in
            let file = try #require(pings.file(at: index))
            let name = String(decoding: file.name, as: UTF8.self)
            #expect(file.path == "\(Self.folderName)/\(name)")
            return name
        }
        #expect(names == ["broken.json", "a.json", "c.json", "-t-15.0.json", "b.json"])
    }
}
