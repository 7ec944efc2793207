import Capture
import Files
import JSONText
import Telemetry
import Testing

/// The expected results of a case.
///
/// Numbers are compared as text, without conversion to floating point.
struct Oracle {
    /// An expected record.
    struct Expected {
        /// The canonical JSON of the members that must be equal, by key.
        let texts: [String: String]
        let app: String
        let notes: [String]
        let held: [String]
    }

    /// An expected item in quarantine.
    ///
    /// The reasons of P5 name a key, so that the whole reason is compared.
    struct Refused: Equatable {
        let path: String
        let reason: String
        let offset: Int?
        let length: Int?

        init(path: String, reason: String, offset: Int?, length: Int?) {
            self.path = path
            self.reason = reason.code == "P5" ? reason : reason.code
            self.offset = offset
            self.length = length
        }

        init(_ item: QuarantineEntry) {
            self.init(
                path: item.path, reason: item.reject.reason, offset: item.reject.offset, length: item.reject.length)
        }
    }

    let records: [Expected]
    let quarantined: [Refused]
    /// The path and the code of each problem.
    let problems: [String]
    let duplicates: Int

    init(_ fixture: FixtureCase) throws {
        let bytes = try InputFile(path: fixture.oraclePath).contents(limit: 64 << 20)
        // A payload alone may have 512 levels.
        let policy = JSONReadingPolicy(depthLimit: 600)
        let document = try JSONDocument(bytes, policy: policy)
        let fields = try JSONFields(bytes, policy: policy)
        try #require(fields.text("case") == fixture.name)
        let list = try #require(document.value(of: "records", in: document.root))
        records = try document.elements(of: list).map { try Self.expected($0, in: document) }
        quarantined = try #require(fields.objects("quarantined")).map { entry in
            Refused(
                path: try #require(entry.text("path")), reason: try #require(entry.text("reason")),
                offset: entry.integer("offset"), length: entry.integer("length"))
        }
        problems = try #require(fields.objects("problems")).map { entry in
            "\(try #require(entry.text("path"))) \(try #require(entry.text("code")))"
        }
        duplicates = fields.integer("duplicates") ?? 0
    }

    private static func expected(_ record: JSONNode, in document: JSONDocument) throws -> Expected {
        let fields = try JSONFields(
            document.canonicalBytes(of: record), policy: JSONReadingPolicy(depthLimit: 600))
        var texts: [String: String] = [:]
        for position in 0..<document.count(of: record) {
            let member = document.member(at: position, of: record)
            let text = String(decoding: document.canonicalBytes(of: member.value), as: UTF8.self)
            texts[document.string(of: member.key)] = text
        }
        try #require(texts.count == 11)
        let app = try #require(texts["app"])
        texts["app"] = nil
        texts["notes"] = nil
        texts["held"] = nil
        return Expected(
            texts: texts, app: app, notes: try #require(fields.texts("notes")), held: try #require(fields.texts("held"))
        )
    }

    /// Returns the canonical JSON of a member of a record.
    static func text(of key: String, in document: JSONDocument) -> String? {
        document.value(of: JSONKey(key), in: document.root).map {
            String(decoding: document.canonicalBytes(of: $0), as: UTF8.self)
        }
    }

    /// Returns the JSON of an app without its id, which oracles do not contain.
    static func text(of app: App) -> String {
        var object = CanonicalObject()
        let members = [
            ("build", app.build), ("channel", app.channel), ("name", app.name), ("version", app.version),
        ]
        for (key, value) in members where value != nil { object.set(JSONKey(key), value) }
        let text = String(decoding: object.bytes, as: UTF8.self)
        return text == "{}" ? "null" : text
    }
}

extension Oracle {
    /// Checks that the quarantine of a case contains the spans that the oracle lists, byte for byte.
    static func checkQuarantine(of fixture: FixtureCase) async throws {
        let oracle = try Oracle(fixture)
        let capture = try await CapturedFolder(path: fixture.path, label: fixture.name, limit: JobLimit(jobs: 2))
        let found = try await ReadCapture(capture)
        // In the order of the oracle. Paths are ASCII.
        let items = found.quarantined.sorted { ($0.path, $0.reject.offset ?? 0) < ($1.path, $1.reject.offset ?? 0) }
        #expect(items.map { Refused($0) } == oracle.quarantined)
        for item in items {
            let file = try InputFile(path: "\(fixture.path)/\(item.path)").contents(limit: 16 << 20)
            let span = file[item.reject.range(inFileOf: file.count)]
            #expect(item.size == span.count)
            #expect(item.sha256 == PayloadHash.hex(of: Array(span)))
            #expect(item.isStored)
            #expect(try found.bytes(of: item) == Array(span))
        }
    }
}
