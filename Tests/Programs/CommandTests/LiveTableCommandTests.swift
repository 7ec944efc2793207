import Foundation
import TestSupport
import Testing

/// Tests of `convert --to bigquery`.
@Suite struct LiveTableCommandTests {
    private let folder: TemporaryFolder
    private let schemas = fixture("bigquery/schemas")

    init() throws { folder = try TemporaryFolder() }

    private func convert(_ words: String..., schemas: String? = nil) throws -> FinishedProgram {
        try shell(
            #""$0" convert --to bigquery "$@""#, ["--schemas", schemas ?? self.schemas, "-o", folder("out")] + words)
    }

    private func rows(_ table: String) throws -> [[String: Any]] {
        try folder.text("out/\(table).ndjson").split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// Writes a file with records of Focus and returns its path.
    private func records(_ records: (id: String, type: String, payload: String, held: String)...) throws -> String {
        let lines = records.map { id, type, payload, held in
            """
            {"app":null,"client":null,"held":[\(held)],"id":"\(id)","notes":[],"payload":\(payload),\
            "source":{"capture":"c","index":0,"path":"p","store":"ndjson-line"},"system":"mozilla",\
            "target":{"path":"/submit/telemetry/\(id)/\(type)/Focus/8.1/release/1"},"time":null,"type":"\(type)"}

            """
        }
        return try folder.put(lines.joined(), "records.ndjson")
    }

    private static let ids = (1...5).map { "3E9D5B1C-7A24-4F60-8C1B-62D0F4A9E31\($0)" }

    @Test("An output has rows, the schemas byte for byte, and instructions, and is the same in each run")
    func files() throws {
        // Status 1 means that the sample has an item in quarantine.
        let finished = try convert(sample("focus"), sample("shop"))
        #expect(finished.status == 1, "\(finished.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder("out")).sorted()
        #expect(
            names == [
                "README.txt", "telemetry.core_v7.ndjson", "telemetry.core_v7.schema.json",
                "telemetry.focus_event_v1.ndjson", "telemetry.focus_event_v1.schema.json",
            ])
        let schema = try Data(contentsOf: URL(fileURLWithPath: "\(schemas)/telemetry/core/core.7.bq"))
        #expect(try folder.data("out/telemetry.core_v7.schema.json") == schema)
        let command = #"bq load --source_format=NEWLINE_DELIMITED_JSON "$DATASET.telemetry_core_v7" "#
        #expect(
            try folder.text("out/README.txt").contains(
                command + "telemetry.core_v7.ndjson telemetry.core_v7.schema.json\n"))
        let first = try names.map { try folder.data("out/\($0)") }
        #expect(try convert(sample("focus"), sample("shop")).status == 73)
        #expect(try convert("--force", "--jobs", "1", sample("focus"), sample("shop")).status == 1)
        #expect(try names.map { try folder.data("out/\($0)") } == first)
        _ = try folder.put("", "out/notes.txt")
        #expect(try convert("--force", sample("focus")).status == 73)
    }

    @Test("Records are counted by class, reason and schema, and the output is complete with status 1")
    func classes() throws {
        let input = try records(
            (Self.ids[0], "core", #"{"clientId":"ECD68F50-582D-4285-AFA7-8878D2DB1970","v":7}"#, ""),
            (Self.ids[1], "core", #"{"v":6}"#, ""), (Self.ids[2], "core", #"{"searches":[1],"v":7}"#, ""),
            (Self.ids[3], "modules", #"{"v":7}"#, ""), (Self.ids[4], "core", #"{"v":7}"#, #""schema: x""#))
        let finished = try convert("--json", input, sample("shop"))
        #expect(finished.status == 1)
        let summary = try finished.json()
        let classes = try #require(summary["classes"] as? [String: Int])
        #expect(classes["written"] == 1 && classes["refused"] == 2 && classes["held"] == 1 && classes["no-schema"] == 1)
        #expect((classes["other-system"] ?? 0) > 0 && classes["no-target"] == 0)
        #expect(summary["rows"] as? [String: Int] == ["telemetry.core_v7": 1])
        let refused = try #require(summary["refused"] as? [[String: Any]])
        #expect(refused.map { $0["reason"] as? String } == ["not a record: searches", "unwanted: modules"])
        let missing = try #require(summary["noSchema"] as? [[String: Any]])
        #expect(missing.map { $0["schema"] as? String } == ["telemetry/core"])
        #expect(finished.errors.contains("pingferry: no-schema: telemetry/core 1\n"))
        #expect(try rows("telemetry.core_v7").count == 1)
        let one = try records((Self.ids[1], "core", #"{"v":6}"#, ""))
        #expect(try convert("--force", one).status == 1)
        #expect(try convert("--force", "--skip-unknown", one).status == 0)
        #expect(FileManager.default.fileExists(atPath: folder("out/README.txt")))
    }

    @Test("--held writes held records and lists them")
    func held() throws {
        let input = try records(
            (Self.ids[0], "core", #"{"v":7}"#, #""delivered: 200""#), (Self.ids[1], "core", #"{"v":7}"#, ""))
        #expect(try convert("--held", input).status == 0)
        #expect(try rows("telemetry.core_v7").count == 2)
        #expect(
            try folder.text("out/held.ndjson")
                == #"{"document_id":"\#(Self.ids[0])","held":["delivered: 200"],"table":"telemetry.core_v7"}"# + "\n")
        #expect(try convert("--force", input).status == 0)
        #expect(try rows("telemetry.core_v7").count == 1)
        #expect(!FileManager.default.fileExists(atPath: folder("out/held.ndjson")))
    }

    @Test("The earliest time of a delivery in receipts is the only source of submission_timestamp")
    func deliveries() throws {
        let payload = #"{"v":7}"#
        let input = try records((Self.ids[0], "core", payload, ""), (Self.ids[1], "core", payload, ""))
        let hash = try tool("sha256sum", try folder.put(payload, "payload")).prefix(64)
        func receipt(_ id: String, _ status: String, _ time: String, type: String = "delivery/v1") throws -> String {
            let record =
                #"{"bundle":0,"id":"\#(id)","outcome":"delivered","sha256":"\#(hash)","status":\#(status),"#
                + #""system":"mozilla","time":"\#(time)","type":"core"}"#
            return try folder.put(
                #"{"_type":"https://in-toto.io/Statement/v1","predicate":{"records":[\#(record)]},"#
                    + #""predicateType":"https://pingferry.example/\#(type)","subject":[]}"# + "\n",
                "\(time)\(type.count)")
        }
        let late = try receipt(Self.ids[0], "200", "2026-05-02T00:00:00.000Z")
        let early = try receipt(Self.ids[0], "202", "2026-05-01T00:00:00.000Z")
        let refused = try receipt(Self.ids[1], "null", "2026-05-03T00:00:00.000Z")
        let words = [late, early, refused].flatMap { ["--deliveries", $0] }
        let finished = try shell(
            #""$0" convert --to bigquery "$@""#, ["--schemas", schemas, "-o", folder("out")] + words + [input])
        #expect(finished.status == 0, "\(finished.errors)")
        let times = try rows("telemetry.core_v7").map { $0["submission_timestamp"] as? String }
        #expect(times == ["2026-05-01T00:00:00Z", nil])
        let other = try receipt(Self.ids[0], "200", "2026-05-02T00:00:00.000Z", type: "receipt/v1")
        for path in [other, input, try folder.put("{\"predicate\":", "cut"), try folder.put("", "empty")] {
            let finished = try convert("--force", "--deliveries", path, input)
            #expect(finished.status == 65 && finished.errors.contains("hint: make a receipt with"), "\(path)")
        }
        let unlisted =
            #"{"predicate":{},"predicateType":"https://pingferry.example/delivery/v1","subject":[]}"# + "\n"
        let reason = try convert("--force", "--deliveries", try folder.put(unlisted, "unlisted"), input).errors
        #expect(reason.contains("the delivery receipt does not list records"))
        #expect(try convert("--force", "--deliveries", folder("none"), input).status == 66)
    }

    @Test("Wrong options are usage errors")
    func usage() throws {
        let key = try folder.put(String(repeating: "k", count: 32), "key", mode: 0o600)
        for words in [
            ["--to", "bigquery"], ["--to", "bigquery", "--schemas", schemas, "--pseudonymize", key],
            ["--to", "csv", "--schemas", schemas], ["--held"], ["--skip-unknown"], ["--deliveries", key],
            ["--to", "bigquery", "--schemas", schemas, "--payload-only"],
        ] {
            let finished = try shell(#""$0" convert "$@""#, words + ["-o", folder("out"), sample("focus")])
            #expect(finished.status == 64, "\(words)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder("out")))
    }

    @Test("A folder without schemas, and a file that is not a schema, are errors")
    func schemaFolders() throws {
        func put(_ schema: String, _ name: String) throws -> String {
            let path = folder("s\(UUID().uuidString)")
            try FileManager.default.createDirectory(
                atPath: "\(path)/\(name)", withIntermediateDirectories: true)
            try Data(schema.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)/core.7.bq"))
            return path
        }
        #expect(try convert(sample("focus"), schemas: folder("none")).status == 66)
        #expect(try convert(sample("focus"), schemas: folder.path).status == 66)
        let bad = try put("{}", "telemetry/core")
        let finished = try convert(sample("focus"), schemas: bad)
        #expect(finished.status == 65)
        #expect(
            finished.errors.contains("\(bad)/telemetry/core/core.7.bq: not a schema: not a list of columns at byte 0"))
        #expect(finished.errors.contains("hint: copy the file"))
        // A copy of the whole branch has the schemas in a folder.
        let good = #"[{"name":"v","type":"INT64"}]"#
        let copy = try put(good, "schemas/telemetry/core")
        let input = try records((Self.ids[0], "core", #"{"v":7}"#, ""))
        #expect(try convert(input, schemas: copy).status == 0)
        #expect(try rows("telemetry.core_v7").allSatisfy { $0.keys.sorted() == ["v"] })
        let twice = try put(good, "telemetry/core")
        try FileManager.default.copyItem(atPath: "\(twice)/telemetry", toPath: "\(twice)/Telemetry")
        #expect(try convert("--force", sample("focus"), schemas: twice).status == 65)
        #expect(!FileManager.default.fileExists(atPath: folder(".out.partial")))
    }
}
