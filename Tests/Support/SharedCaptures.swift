import Files
import Foundation
import Hashing
import Synchronization

private let root = "/tmp/pingferry-captures-\(UUID().uuidString)"

/// Captures that several tests read.
///
/// All tests of a process share the captures, which are removed at the end of the process. A test that changes a
/// capture must use a copy.
public enum SharedCaptures {
    private static let captures = Mutex<[[String]: SharedFolder]>([:])

    /// Returns the path of a folder with the captures in the archive `name` of `Tests/Fixtures/captures`.
    public static func unpacked(_ name: String) throws -> String {
        try folder(named: ["unpacked", name]) { path in
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try tool("tar", "-xJmf", "\(repository)/Tests/Fixtures/captures/\(name).tar.xz", "-C", path)
            try encryptRanges(in: path)
        }
    }

    /// Returns the path of a capture with `pings` ping files, which takes the program some time to read.
    public static func load(pings: Int, containers: Int = 1) throws -> String {
        try generated("make_load.py", ["--containers", "\(containers)", "--pings", "\(pings)"])
    }

    /// Returns the path of the folder that the generator `script` of `Tests/Load` writes with `options`.
    public static func generated(_ script: String, _ options: [String]) throws -> String {
        try folder(named: [script] + options) { path in
            try tool(["python3", "\(repository)/Tests/Load/\(script)", path] + options)
        }
    }

    private static func folder(named key: [String], writtenBy write: (String) throws -> Void) throws -> String {
        let folder = captures.withLock { captures in
            if captures.isEmpty { atexit { try? FileManager.default.removeItem(atPath: root) } }
            let known = captures[key] ?? SharedFolder(path: "\(root)/\(captures.count)/capture")
            captures[key] = known
            return known
        }
        return try folder.written(by: write)
    }

    /// Encrypts the ranges of files that the file `encrypt.txt` lists, and removes this file.
    private static func encryptRanges(in folder: String) throws {
        let list = URL(filePath: "\(folder)/encrypt.txt")
        guard let text = try? String(contentsOf: list, encoding: .utf8) else { return }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.count == 4, let key = Data(base64Encoded: String(words[0])).flatMap({ CipherKey([UInt8]($0)) }),
                let start = Int(words[1]), let count = Int(words[2])
            else { throw CocoaError(.fileReadCorruptFile) }
            let file = URL(filePath: "\(folder)/\(words[3])")
            var data = try Data(contentsOf: file)
            guard start + count <= data.count, let encrypted = key.encrypt([UInt8](data[start..<start + count])) else {
                throw CocoaError(.fileReadCorruptFile)
            }
            data.replaceSubrange(start..<start + count, with: encrypted)
            try data.write(to: file)
        }
        try FileManager.default.removeItem(at: list)
    }
}

/// A folder that is written on first use.
///
/// Other tests that use it meanwhile wait.
private final class SharedFolder: Sendable {
    private let path: String
    private let result = Mutex<Result<Void, any Error>?>(nil)

    init(path: String) { self.path = path }

    func written(by write: (String) throws -> Void) throws -> String {
        let result = result.withLock { result in
            let known = result ?? Result { try write(path) }
            result = known
            return known
        }
        try result.get()
        return path
    }
}
