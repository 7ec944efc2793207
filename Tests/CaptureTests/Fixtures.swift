import Foundation
import JSONText
import TestSupport
import Testing

/// A case that a generator of stores wrote: a capture and what is expected of it.
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

/// What the generator of Mozilla's stores writes, made once for all tests and removed at the end of the process.
enum Fixtures {
    /// Every case as the generator writes it by default, and the larger ones that depend on its options.
    static var cases: [FixtureCase] {
        get throws { try standard.get() + large.get().filter { isGoodStore($0.name) } }
    }

    static func named(_ name: String) throws -> FixtureCase {
        try #require(try standard.get().first { $0.name == name })
    }

    private static let standard = Result { try generate("make_mozilla_stores.py", "standard") }
    private static let large = Result {
        try generate("make_mozilla_stores.py", "large", "--pings", "40", "--seed", "7")
    }

    /// Other cases are named after the case that they cover, such as `p01-empty-file`, and are always the same size.
    private static func isGoodStore(_ name: String) -> Bool {
        name.firstMatch(of: /^[pfce]\d\d-/) == nil
    }

    /// Returns the cases that a generator writes with `options`. `set` names them in the results of tests.
    static func generate(_ script: String, _ set: String, _ options: String...) throws -> [FixtureCase] {
        let folder = try GeneratedCaptures.folder(script, options)
        let oracles = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("expected-") }
        return oracles.sorted().map { oracle in
            let name = String(oracle.dropFirst("expected-".count).dropLast(".json".count))
            return FixtureCase(name: name, path: "\(folder)/\(name)", oraclePath: "\(folder)/\(oracle)", set: set)
        }
    }
}

/// What the generator of Glean's stores writes.
enum GleanFixtures {
    /// Every case as the generator writes it by default, and all of them once more with other values.
    static var cases: [FixtureCase] { get throws { try standard.get() + other.get() } }

    static func named(_ name: String) throws -> FixtureCase {
        try #require(try standard.get().first { $0.name == name })
    }

    private static let standard = Result { try Fixtures.generate("make_glean_stores.py", "glean") }
    private static let other = Result {
        try Fixtures.generate("make_glean_stores.py", "glean-other", "--pings", "9", "--seed", "7")
    }
}
