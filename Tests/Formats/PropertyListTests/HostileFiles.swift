import Foundation
import TestSupport
import Testing

/// A file that the generator of keyed archives wrote, and what is expected of it.
struct HostileFile: Decodable, CustomTestStringConvertible, Sendable {
    let file: String
    /// `container`, `archive`, `graph`, `sift`.
    let level: String
    /// `ok`, `partial`, `error`, `safe`.
    let expect: String
    let codes: [String]

    var testDescription: String { file }

    var bytes: [UInt8] {
        get throws { Array(try Data(contentsOf: URL(filePath: "\(HostileFile.folder)/hostile/files/\(file)"))) }
    }

    /// What the generator wrote, made once for all tests and removed at the end of the process.
    static var all: [HostileFile] {
        get throws { try generated.get() }
    }

    static let folder = "/tmp/pingferry-archives-\(UUID().uuidString)"

    private static let generated = Result {
        atexit { try? FileManager.default.removeItem(atPath: HostileFile.folder) }
        try tool(["python3", generator("make_keyed_archives.py"), folder])
        let manifest = try Data(contentsOf: URL(filePath: "\(folder)/hostile/manifest.json"))
        return try JSONDecoder().decode([HostileFile].self, from: manifest)
    }
}
