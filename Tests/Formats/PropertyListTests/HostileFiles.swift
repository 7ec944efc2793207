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

    /// All files that the generator wrote.
    static var all: [HostileFile] {
        get throws { try generated.get() }
    }

    static var folder: String { get throws { try GeneratedCaptures.folder("make_keyed_archives.py") } }

    private static let generated = Result {
        let manifest = try Data(contentsOf: URL(filePath: "\(folder)/hostile/manifest.json"))
        return try JSONDecoder().decode([HostileFile].self, from: manifest)
    }
}
