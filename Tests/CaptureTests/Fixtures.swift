import Foundation
import JSONText
import TestSupport
import Testing

/// A capture and its expected results.
struct FixtureCase: CustomTestStringConvertible, Sendable {
    let name: String
    /// The path of the capture.
    let path: String
    /// The path of the file with the expected results.
    let oraclePath: String

    var testDescription: String { name }
}

/// The stores of Mozilla's first SDK with expected results.
enum Fixtures {
    /// All cases.
    static var cases: [FixtureCase] { get throws { try list.get() } }

    static func named(_ name: String) throws -> FixtureCase {
        try #require(try cases.first { $0.name == name })
    }

    private static let list = Result { try cases(in: "mozilla") }

    /// Returns the cases in the archive `name` of `Tests/Fixtures/captures`.
    static func cases(in name: String) throws -> [FixtureCase] {
        let folder = try SharedCaptures.unpacked(name)
        let oracles = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("expected-") }
        return oracles.sorted().map { oracle in
            let name = String(oracle.dropFirst("expected-".count).dropLast(".json".count))
            return FixtureCase(name: name, path: "\(folder)/\(name)", oraclePath: "\(folder)/\(oracle)")
        }
    }
}

/// The stores of Glean's SDK with expected results.
enum GleanFixtures {
    /// All cases.
    static var cases: [FixtureCase] { get throws { try list.get() } }

    static func named(_ name: String) throws -> FixtureCase {
        try #require(try cases.first { $0.name == name })
    }

    private static let list = Result { try Fixtures.cases(in: "glean") }
}
