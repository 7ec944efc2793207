import Foundation
import JSONText
import TestSupport
import Testing

/// A generated case: a capture and its expected results.
struct FixtureCase: CustomTestStringConvertible, Sendable {
    let name: String
    /// The path of the capture.
    let path: String
    /// The path of the file with the expected results.
    let oraclePath: String
    /// The set of generator options that created the case.
    let set: String

    var testDescription: String { "\(name) (\(set))" }
}

/// The cases of the generator of Mozilla stores, which runs once for all tests.
enum Fixtures {
    /// All cases with the default options, and larger ones with other options.
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

    /// Returns whether a case has no faults.
    ///
    /// Faulty cases are named after a case of the document, such as `p01-empty-file`.
    private static func isGoodStore(_ name: String) -> Bool {
        name.firstMatch(of: /^[pfce]\d\d-/) == nil
    }

    /// Returns the cases that a generator writes with `options`.
    ///
    /// `set` identifies them in test results.
    static func generate(_ script: String, _ set: String, _ options: String...) throws -> [FixtureCase] {
        let folder = try GeneratedCaptures.folder(script, options)
        let oracles = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("expected-") }
        return oracles.sorted().map { oracle in
            let name = String(oracle.dropFirst("expected-".count).dropLast(".json".count))
            return FixtureCase(name: name, path: "\(folder)/\(name)", oraclePath: "\(folder)/\(oracle)", set: set)
        }
    }
}

/// The cases of the generator of Glean stores.
enum GleanFixtures {
    /// All cases with the default options, and again with other values.
    static var cases: [FixtureCase] { get throws { try standard.get() + other.get() } }

    static func named(_ name: String) throws -> FixtureCase {
        try #require(try standard.get().first { $0.name == name })
    }

    private static let standard = Result { try Fixtures.generate("make_glean_stores.py", "glean") }
    private static let other = Result {
        try Fixtures.generate("make_glean_stores.py", "glean-other", "--pings", "9", "--seed", "7")
    }
}
