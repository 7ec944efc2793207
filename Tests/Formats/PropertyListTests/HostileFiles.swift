import Foundation
import TestSupport
import Testing

/// A file written by the generator of keyed archives, with the expected outcome.
struct HostileFile: Decodable, CustomTestStringConvertible, Sendable {
    let file: String
    /// The level at which the file is invalid: `container`, `archive`, `graph` or `sift`.
    let level: String
    /// The expected outcome: `ok`, `partial`, `error` or `safe`.
    let expect: String
    let codes: [String]

    var testDescription: String { file }

    var bytes: [UInt8] {
        get throws { Array(try Data(contentsOf: URL(filePath: "\(HostileFile.folder)/hostile/files/\(file)"))) }
    }

    /// All files of the generator.
    static var all: [HostileFile] {
        get throws { try generated.get() }
    }

    static var folder: String { get throws { try GeneratedCaptures.folder("make_keyed_archives.py") } }

    private static let generated = Result {
        let manifest = try Data(contentsOf: URL(filePath: "\(folder)/hostile/manifest.json"))
        return try JSONDecoder().decode([HostileFile].self, from: manifest)
    }
}
