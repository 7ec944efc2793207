import Foundation
import TestSupport
import Testing

/// A hostile keyed archive with the expected outcome.
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

    /// All hostile files.
    static var all: [HostileFile] {
        get throws { try list.get() }
    }

    static var folder: String { get throws { try SharedCaptures.unpacked("sift") } }

    private static let list = Result {
        let manifest = try Data(contentsOf: URL(filePath: "\(folder)/hostile/manifest.json"))
        return try JSONDecoder().decode([HostileFile].self, from: manifest)
    }
}
