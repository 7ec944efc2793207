import Capture
import Files
import Foundation
import JSONText
import Systems
import Telemetry
import TestSupport
import Testing

/// The stores and request logs of Adjust's SDK with expected results.
///
/// The path of a case is that of its input, which can be a folder or a file.
enum AdjustFixtures {
    /// All cases.
    static var cases: [FixtureCase] { get throws { try list.get() } }

    /// The ids of the format document that the cases cover.
    static var ids: Set<String> {
        get throws {
            Set(try cases.flatMap { try #require(try AdjustOracle.fields(of: $0).texts("cases")) })
        }
    }

    static func named(_ name: String) throws -> FixtureCase {
        try #require(try cases.first { $0.name == name })
    }

    private static let list = Result { try Fixtures.cases(in: "adjust").map(withInput) }

    /// Returns a case whose path is that of the input that its oracle names.
    private static func withInput(_ fixture: FixtureCase) throws -> FixtureCase {
        let input = try #require(try AdjustOracle.fields(of: fixture).text("input"))
        let folder = URL(fileURLWithPath: fixture.oraclePath).deletingLastPathComponent().path
        return FixtureCase(name: fixture.name, path: "\(folder)/\(input)", oraclePath: fixture.oraclePath)
    }

    /// Opens the input of a case as a command does.
    static func open(_ fixture: FixtureCase) async throws -> CaptureInput {
        let opener = InputOpener(systems: Systems.table, limit: JobLimit(jobs: 2), spool: Spool())
        return try #require(try await opener.open([fixture.path]).first)
    }
}

/// The expected results of a case of Adjust's SDK.
struct AdjustOracle {
    /// An expected record.
    struct Expected {
        /// The canonical JSON of each member, except for notes and holds.
        let members: [String: String]
        /// The codes of the notes.
        let notes: Set<String>
        /// The sorted codes of the holds.
        let held: [String]
    }

    /// The expected state of a queue.
    struct Queue: Equatable {
        let path: String
        let packages: Int?
        let readiness: String
    }

    let records: [Expected]
    let duplicates: Int
    /// The path and the code of each item in quarantine, sorted.
    let quarantined: [String]
    /// The path and the code of each problem.
    let problems: [String]
    /// The queues that can be read.
    let queues: [Queue]
    /// The strings that must occur in no output.
    let canaries: [String]
    /// The exit status of the commands.
    let status: Int
    /// Whether several results are acceptable.
    let hasChoice: Bool

    /// A payload can be nested, and JSON in the file is not as deep as this.
    private static let policy = JSONReadingPolicy(depthLimit: 600)

    private static func bytes(of fixture: FixtureCase) throws -> [UInt8] {
        try InputFile(path: fixture.oraclePath).contents(limit: 64 << 20)
    }

    /// Returns the members of the file with the expected results.
    static func fields(of fixture: FixtureCase) throws -> JSONFields {
        try JSONFields(bytes(of: fixture), policy: policy)
    }

    init(_ fixture: FixtureCase) throws {
        let document = try JSONDocument(Self.bytes(of: fixture), policy: Self.policy)
        let fields = try Self.fields(of: fixture)
        try #require(fields.text("case") == fixture.name)
        let list = try #require(document.value(of: "records", in: document.root))
        records = try document.elements(of: list).map { try Self.expected($0, in: document) }
        func findings(_ key: JSONKey) throws -> [String] {
            try #require(fields.objects(key)).map { entry in
                "\(try #require(entry.text("path"))) \(try #require(entry.text("code")))"
            }
        }
        quarantined = try findings("quarantined").sorted()
        problems = try findings("problems")
        queues = try #require(fields.objects("queues")).compactMap { entry in
            guard let packages = entry.integer("packages") else { return nil }
            return Queue(
                path: try #require(entry.text("path")), packages: packages,
                readiness: try #require(entry.text("readiness")))
        }
        canaries = try #require(fields.texts("canaries"))
        duplicates = try #require(fields.integer("duplicates"))
        status = try #require(fields.integer("exit"))
        hasChoice = fields.boolean("choice") ?? false
    }

    private static func expected(_ record: JSONNode, in document: JSONDocument) throws -> Expected {
        let fields = try JSONFields(document.canonicalBytes(of: record), policy: policy)
        var members: [String: String] = [:]
        for position in 0..<document.memberCount(of: record) {
            let member = document.member(at: position, of: record)
            members[document.string(of: member.key)] = String(
                decoding: document.canonicalBytes(of: member.value), as: UTF8.self)
        }
        try #require(members.count == 11)
        members["notes"] = nil
        members["held"] = nil
        return Expected(
            members: members, notes: Set(try #require(fields.texts("notes"))), held: try #require(fields.texts("held")))
    }
}
