import Files
import Foundation
import JSONText

/// A case that the generator of backups wrote: what is to be given, and what is expected of it.
public struct BackupCase: CustomStringConvertible, Sendable {
    /// The name of the case.
    public let name: String
    /// The ids of "iOS backups" that it covers.
    public let ids: [String]
    /// What is to be given; `-` for the standard input.
    public let input: String
    /// What stands on the standard input then.
    public let standardInput: String?
    /// For the environment.
    public let password: String?
    /// For `--password-file`.
    public let passwordFile: String?
    /// The status of `scan`, `convert` and `bundle`.
    public let status: Int
    /// The id of the case that makes the whole input unreadable.
    public let error: String?
    /// Texts that must not appear anywhere.
    public let canaries: [String]
    /// Where all of the expectation stands.
    public let oraclePath: String

    /// The name.
    public var description: String { name }

    /// All cases, made once for all tests and removed at the end of the process.
    public static var all: [BackupCase] { get throws { try generated.get() } }

    /// The case of a name.
    public static func named(_ name: String) throws -> BackupCase {
        guard let found = try all.first(where: { $0.name == name }) else { throw MissingCase(name: name) }
        return found
    }

    /// There is no case of that name.
    public struct MissingCase: Error {
        /// The name.
        public let name: String

        /// Names it.
        public init(name: String) {
            self.name = name
        }
    }

    private static let generated = Result {
        let folder = try GeneratedCaptures.folder("make_ios_backups.py")
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
