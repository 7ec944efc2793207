import Foundation
import TestSupport
import Testing

@Suite struct RequestLogCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The secrets in the samples, which must not occur in any output.
    private static let secrets = [
        "SAMPLECOOKIE", "SAMPLETOKEN", "SAMPLEPASSWORD", "prod_SAMPLEKEY", "clientKey", "c2FtcGxlLWJlYWNvbi1rZXk",
        "sample-beacon-key", "Basic ", "Bearer ",
    ]

    private func expectNoSecret(_ text: String, besides allowed: String = "") {
        for secret in Self.secrets where secret != allowed { #expect(!text.contains(secret), "\(secret)") }
    }

    @Test func secretsAreOmitted() throws {
        let har = try String(contentsOfFile: sample("browser.har"), encoding: .utf8)
        for secret in Self.secrets.prefix(6) { try #require(har.contains(secret)) }
        // A log with invalid parts has more findings.
        let broken = folder("broken.har")
        try har.replacing(#""action=multi&"#, with: #""action=multi&data=%zz&"#)
            .replacing("\"postData\"", with: "\"postDate\"", maxReplacements: 2).dropLast(400)
            .write(toFile: broken, atomically: true, encoding: .utf8)
        let bundle = folder("a.tar.zst")
        for command in [
            ["scan"], ["scan", "--json"], ["convert", "-o", "-"], ["convert", "--labels", "-o", "-"],
            ["convert", "--payload-only", "-o", "-"], ["bundle", "--force", "-o", bundle],
        ] {
            let script = #""$0" "$@" 2>&1; true"#
            let text = try shell(script, command + [sample("browser.har"), broken, sample("pings.ndjson")]).text
            #expect(!text.isEmpty)
            expectNoSecret(text)
        }
        #expect(try pingferry("verify", bundle).status == 0)
        for member in try tool("tar", "--zstd", "-tf", bundle).split(separator: "\n") {
            #expect(!member.hasPrefix("quarantine/"))
            expectNoSecret(try tool("tar", "--zstd", "-xOf", bundle, String(member)))
        }
        let listed = try pingferry("list", bundle).text
        expectNoSecret(listed)
        #expect(!listed.contains("SAMPLE-SESSION-TOKEN"))
        #expect(!(try pingferry("scan", "--json", sample("browser.har")).text.contains("SAMPLE-SESSION-TOKEN")))
    }

    @Test(arguments: samples + sampleLogs) func convertedRecordsAreReadUnchanged(name: String) throws {
        let script = """
            "$0" convert -q -o "$1/a.ndjson" "$2" || test $? = 1
            "$0" convert -q -o "$1/a.ndjson.zst" "$2" || test $? = 1
            "$0" convert -q --labels -o "$1/labels.ndjson" "$2" || test $? = 1
            set -e
            "$0" convert -o - "$1/a.ndjson" | cmp - "$1/a.ndjson"
            "$0" convert -o - "$1/a.ndjson.zst" | cmp - "$1/a.ndjson"
            "$0" convert -o - - < "$1/a.ndjson" | cmp - "$1/a.ndjson"
            "$0" convert -o - - < "$1/a.ndjson.zst" | cmp - "$1/a.ndjson"
            "$0" convert -o - "$1/labels.ndjson" | cmp - "$1/a.ndjson"
            python3 -c 'import json,sys
            for line in open(sys.argv[1]): print(json.dumps(json.loads(line), indent=None))' "$1/a.ndjson" > "$1/other.jsonl"
            "$0" convert -o - "$1/other.jsonl" | cmp - "$1/a.ndjson"
            """
        let finished = try shell(script, [folder.path, sample(name)])
        #expect(finished.status == 0, "\(finished.text)\(finished.errors)")
    }

    @Test func changedRecordIsRejected() throws {
        try pingferry("convert", "-q", "-o", folder("a.ndjson"), sample("pings.ndjson"))
        let text = try String(contentsOfFile: folder("a.ndjson"), encoding: .utf8)
        try text.replacing("\"session_duration\":1876", with: "\"session_duration\":1877")
            .write(toFile: folder("b.ndjson"), atomically: true, encoding: .utf8)
        let finished = try pingferry("scan", folder("b.ndjson"))
        #expect(finished.status == 1)
        #expect(
            finished.errorLines == [
                "pingferry: b.ndjson: b.ndjson at byte 0: line_invalid line 1: no record: the id is not the hash of the payload"
            ])
    }

    @Test func standardInputIsReadLikeFile() throws {
        for name in sampleLogs {
            let script = #"diff <("$0" convert -o - --label x "$1") <("$0" convert -o - --label x - < "$1")"#
            // Only the path in the source differs.
            let finished = try shell(script + " | grep -c '^[<>]'", [sample(name)])
            let lines = try pingferry("convert", "-o", "-", sample(name)).lines.count
            #expect(finished.lines == ["\(2 * lines)"])
        }
        #expect(try shell(#"echo hello | "$0" scan -"#, []).status == 65)
    }

    @Test func logsInFolderAreStores() throws {
        try folder.makeFolder("phone")
        try tool("cp", sample("browser.har"), sample("pings.ndjson"), folder("phone"))
        try folder.copySample("focus", to: "phone/focus")
        // The converted output in the folder is not part of the capture.
        try pingferry("convert", "-q", "-o", folder("phone/records.ndjson"), sample("webxr"))
        try folder.put("{\"name\":\"not telemetry\"}\n", "phone/other.jsonl")
        let stores = try #require(try pingferry("scan", "--json", folder("phone")).json()["stores"] as? [[String: Any]])
        #expect(
            stores.compactMap { $0["path"] as? String }.filter { !$0.hasPrefix("focus/") } == [
                "browser.har", "pings.ndjson",
            ])
        let records = stores.compactMap { $0["records"] as? Int }
        let total = records.reduce(0, +)
        #expect(total == 21)
    }

    @Test func labelsHaveOrderOfEvents() throws {
        let lines = try pingferry("convert", "--labels", "-o", "-", sample("browser.har")).lines
        let labels = try lines.map { line in
            let record = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            return try #require(record["labels"] as? [String?])
        }
        #expect(
            labels == [
                [], ["App came to the front", "Search typed", "Erase button clicked"], ["Item tapped"],
                ["No image for the site", "No icon for the site"],
                ["State of the app and its sensors", "Properties of the device"],
                ["New tab opened", "Bookmark saved", "App still in the foreground"], [],
            ])
        #expect(try pingferry("convert", "--labels", "--payload-only", "-o", "-", sample("focus")).status == 64)
    }

    @Test func scanCountsEventsByMeaning() throws {
        let stores = try #require(try pingferry("scan", "--json", sample("webxr")).json()["stores"] as? [[String: Any]])
        let events = try stores.map { try #require($0["events"] as? [String: Any]) }
        let known = events.compactMap { $0["known"] as? [String: Int] }
        #expect(known.contains { ($0["Picture taken"] ?? 0) > 0 })
        #expect(events.allSatisfy { $0["unknown"] as? Int == 0 })
        let text = #"{"data":[{"time":1,"mobile_event_type":"checkout","installation_id":"A"}]}"#
        let own = try pingferry("scan", "--json", folder.put(text, "a.ndjson")).json()
        let counts = (own["stores"] as? [[String: Any]])?.first?["events"] as? [String: Any]
        #expect(counts?["unknown"] as? Int == 1)
    }
}
