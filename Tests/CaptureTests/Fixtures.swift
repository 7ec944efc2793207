import Foundation
import JSONText
import TestSupport
import Testing

/// A case that the generator of Mozilla's stores wrote: a capture and what is expected of it.
struct FixtureCase: CustomTestStringConvertible, Sendable {
    let name: String
    /// The folder of the capture.
    let path: String
    /// The file that says what is expected.
    let oraclePath: String
    /// How the generator was called.
    let set: String

    var testDescription: String { "\(name) (\(set))" }
}

private let fixtureRoot = "/tmp/pingferry-fixtures-\(UUID().uuidString)"

/// What the generator writes, made once for all tests and removed at the end of the process.
enum Fixtures {
    /// Every case as the generator writes it by default, and the larger ones that depend on its options.
    static var cases: [FixtureCase] {
        get throws { try standard.get() + large.get().filter { isGoodStore($0.name) } }
    }

    static func named(_ name: String) throws -> FixtureCase {
        try #require(try standard.get().first { $0.name == name })
    }

    private static let standard = Result { try generate("standard", []) }
    private static let large = Result { try generate("large", ["--pings", "40", "--seed", "7"]) }

    /// Other cases are named after the case that they cover, such as `p01-empty-file`, and are always the same size.
    private static func isGoodStore(_ name: String) -> Bool {
        name.firstMatch(of: /^[pfce]\d\d-/) == nil
    }

    private static func generate(_ set: String, _ options: [String]) throws -> [FixtureCase] {
        atexit { try? FileManager.default.removeItem(atPath: fixtureRoot) }
        let folder = "\(fixtureRoot)/\(set)"
        try tool(["python3", generator("make_mozilla_stores.py"), folder] + options)
        let oracles = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("expected-") }
        return oracles.sorted().map { oracle in
            let name = String(oracle.dropFirst("expected-".count).dropLast(".json".count))
            return FixtureCase(name: name, path: "\(folder)/\(name)", oraclePath: "\(folder)/\(oracle)", set: set)
        }
    }
}
