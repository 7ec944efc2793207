import Files
import Foundation
import JSONText

/// A backup with its input, its password and the expected results.
public struct BackupCase: CustomStringConvertible, Sendable {
    /// The name of the case.
    public let name: String
    /// The ids of the cases in "iOS backups" that this case covers.
    public let ids: [String]
    /// The path of the input, or `-` for standard input.
    public let input: String
    /// The path of the file to pass on standard input, if the input is `-`.
    public let standardInput: String?
    /// The password to pass in the environment variable, or `nil` if the case has none.
    public let password: String?
    /// The path to pass with `--password-file`, or `nil` if the case has none.
    public let passwordFile: String?
    /// The expected exit status of `scan`, `convert` and `bundle`.
    public let status: Int
    /// The id of the case that makes the whole input unreadable.
    public let error: String?
    /// Strings that must not appear in any output.
    public let canaries: [String]
    /// The path of the JSON file with all expected results.
    public let oraclePath: String

    /// The name of the case.
    public var description: String { name }

    /// All cases.
    public static var all: [BackupCase] { get throws { try list.get() } }

    /// Returns the case with the given name.
    public static func named(_ name: String) throws -> BackupCase {
        guard let found = try all.first(where: { $0.name == name }) else { throw MissingCase(name: name) }
        return found
    }

    /// An error that reports that a case does not exist or is incomplete.
    public struct MissingCase: Error {
        /// The name of the case, or of the file with its expected results.
        public let name: String

        /// Creates an error for a case.
        public init(name: String) {
            self.name = name
        }
    }

    private static let list = Result {
        let folder = try SharedCaptures.unpacked("backups")
        let oracles = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("expected-") }
        return try oracles.sorted().map { try BackupCase(oracle: $0, in: folder) }
    }

    private init(oracle: String, in folder: String) throws {
        oraclePath = "\(folder)/\(oracle)"
        let fields = try JSONFields(try InputFile(path: oraclePath).contents(limit: 64 << 20))
        func text(_ key: JSONKey) throws -> String {
            guard let text = fields.text(key) else { throw MissingCase(name: oracle) }
            return text
        }
        name = try text("case")
        ids = fields.texts("cases") ?? []
        let input = try text("input")
        self.input = input == "-" ? input : "\(folder)/\(input)"
        standardInput = fields.text("stdin").map { "\(folder)/\($0)" }
        password = fields.text("password")
        passwordFile = fields.text("passwordFile").map { "\(folder)/\($0)" }
        status = fields.integer("exit") ?? -1
        error = fields.text("error")
        canaries = fields.texts("canaries") ?? []
    }
}
