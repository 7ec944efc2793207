import Capture
import Files
import JSONText
import Parallel
import Telemetry
import Testing

/// What is expected of a case, with the texts of all values as the oracle has them: no number goes through a double.
struct Oracle {
    /// A record as it is expected.
    struct Expected {
        /// Canonical texts of what has to be equal.
        let texts: [String: String]
        let app: String
        let notes: [String]
        let held: [String]
    }

    /// An expected entry of the quarantine. The reasons of P5 name a key, so there all of it counts.
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

        init(_ item: Quarantined) {
            self.init(
                path: item.path, reason: item.reject.reason, offset: item.reject.offset, length: item.reject.length)
        }
    }

    let records: [Expected]
    let quarantined: [Refused]
    /// Path and code.
    let problems: [String]
    let duplicates: Int

    init(_ fixture: FixtureCase) throws {
        let bytes = try InputFile(path: fixture.oraclePath).contents(limit: 64 << 20)
        // A payload may have 512 levels itself.
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

    /// The canonical text of a member of a record.
    static func text(of key: String, in document: JSONDocument) -> String? {
        document.value(of: JSONKey(key), in: document.root).map {
            String(decoding: document.canonicalBytes(of: $0), as: UTF8.self)
        }
    }

    /// An app without the id, which oracles do not have.
    static func text(of app: App) -> String {
        var object = CanonicalObject()
        let members = [
            ("build", app.build), ("channel", app.channel), ("name", app.name), ("version", app.version),
        ]
        for (key, value) in members where value != nil { object.set(JSONKey(key), string: value) }
        let text = String(decoding: object.bytes, as: UTF8.self)
        return text == "{}" ? "null" : text
    }
}

extension Oracle {
    /// Checks that the quarantine of a case has the spans that the oracle lists, byte for byte.
    static func checkQuarantine(of fixture: FixtureCase) async throws {
        let oracle = try Oracle(fixture)
        let capture = try await CapturedFolder(path: fixture.path, label: fixture.name, limit: JobLimit(jobs: 2))
        let found = try await ReadCapture(capture)
        // The oracle's order; paths are ASCII.
        let items = found.quarantined.sorted { ($0.path, $0.reject.offset ?? 0) < ($1.path, $1.reject.offset ?? 0) }
        #expect(items.map { Refused($0) } == oracle.quarantined)
        for item in items {
            let file = try InputFile(path: "\(fixture.path)/\(item.path)").contents(limit: 16 << 20)
            let span = file[item.reject.range(inFileOf: file.count)]
            #expect(item.size == span.count)
            #expect(item.sha256 == PayloadHash.hex(of: Array(span)))
            #expect(item.isStored)
            #expect(try CaptureInput.folder(capture).quarantinedBytes(of: item) == Array(span))
        }
    }
}
