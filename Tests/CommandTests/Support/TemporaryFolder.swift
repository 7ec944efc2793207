import Foundation

/// A folder that is removed with all that is in it at the end of a test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = "/tmp/pingferry-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of something in it.
    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// The names in it, hidden ones too, sorted.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// Writes a file, with the folders that it needs.
    @discardableResult
    func put(_ contents: String, _ name: String) throws -> String {
        try makeFolder((name as NSString).deletingLastPathComponent)
        try Data(contents.utf8).write(to: URL(fileURLWithPath: self(name)))
        return self(name)
    }

    @discardableResult
    func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: self(name), withIntermediateDirectories: true)
        return self(name)
    }

    /// Copies a sample, under its own name if none is given.
    @discardableResult
    func copySample(_ sampleName: String, to name: String? = nil) throws -> String {
        // Not FileManager, which wants to keep the owner.
        try tool("cp", "-R", sample(sampleName), self(name ?? sampleName))
        return self(name ?? sampleName)
    }

    func data(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: self(name))) }

    /// A capture of a given number of pings in one container, large enough to take its time.
    func makeLoad(pings: Int) throws -> String {
        try tool(
            "python3", "\(repository)/Tests/Load/make_load.py", self("load"), "--containers", "1", "--pings", "\(pings)"
        )
        return self("load")
    }
}

/// What a folder holds: contents, mode and time of modification by path.
func snapshot(_ folder: String) throws -> [String: [String]] {
    var files: [String: [String]] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")
        let contents = FileManager.default.contents(atPath: "\(folder)/\(path)")?.base64EncodedString()
        let modified = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970
        files[path] = ["\(contents ?? "folder")", "\(modified ?? 0)", "\(attributes[.posixPermissions] ?? 0)"]
    }
    return files
}
