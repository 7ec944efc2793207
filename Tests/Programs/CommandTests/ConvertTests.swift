import Foundation
import TestSupport
import Testing

@Suite struct ConvertTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func records(_ arguments: String...) throws -> [[String: Any]] {
        try pingferryLines(arguments).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private func pingferryLines(_ arguments: [String]) throws -> [String] {
        let script = #""$0" convert -q -o - "$@""#
        // Status 1 means that the sample has quarantined items.
        let finished = try shell(script + " || test $? = 1", arguments)
        #expect(finished.status == 0, "\(finished.errors)")
        return finished.lines
    }

    private static let keys = [
        "app", "client", "held", "id", "notes", "payload", "source", "system", "target", "time", "type",
    ]

    @Test(arguments: samples) func everyRecordHasAllKeys(name: String) throws {
        let records = try records(sample(name))
        #expect(!records.isEmpty)
        for record in records {
            #expect(record.keys.sorted() == Self.keys)
            #expect((record["source"] as? [String: Any])?["capture"] as? String == name)
        }
    }

    @Test func linesAreCanonicalJSON() throws {
        let output = folder("records.ndjson")
        #expect(try pingferry("convert", "-o", output, sample("webxr")).status == 0)
        let script = """
            import json, sys
            for line in open(sys.argv[1], encoding="utf-8"):
                value = json.loads(line)
                again = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                assert line == again + "\\n", line
            """
        try tool("python3", "-c", script, output)
    }

    @Test func payloadOnlyWritesPayloadsOfRecords() throws {
        let payloads = try pingferryLines(["--payload-only", sample("focus")])
        let records = try pingferryLines([sample("focus")])
        #expect(payloads.count == 7)
        for (payload, record) in zip(payloads, records) {
            #expect(payload.hasPrefix("{"))
            #expect(record.contains("\"payload\":\(payload),\"source\""))
        }
    }

    @Test func fileEqualsStandardOutput() throws {
        let finished = try pingferry("convert", "-o", folder("a.ndjson"), sample("webxr"))
        #expect(finished.text == "wrote \(folder("a.ndjson")): 6 records (5 uploadable; held: pending-events 1)\n")
        #expect(finished.errors == "")
        #expect(try folder.data("a.ndjson") == pingferry("convert", "-o", "-", sample("webxr")).output)
        #expect(folder.names == ["a.ndjson"])
    }

    @Test("Pipes and devices receive the same bytes and are not replaced")
    func streams() throws {
        let script = """
            mkfifo "$1/pipe" && { cat "$1/pipe" > "$1/a" & } && "$0" convert -q -o "$1/pipe" "$2" && wait \
            && "$0" convert -o /dev/stdout "$2" | cat > "$1/b" && "$0" convert -o /dev/stdout "$2" > "$1/d" \
            && "$0" convert -q -o >(cat > "$1/c"; echo > "$1/done") "$2" \
            && until test -e "$1/done"; do sleep 0.01; done \
            && "$0" convert -q -o /dev/null "$2" && test -p "$1/pipe" && test -c /dev/null
            """
        let finished = try shell(script, [folder.path, sample("webxr")])
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(try pingferry("convert", "--json", "-o", "/dev/stdout", sample("webxr")).status == 64)
        let expected = try pingferry("convert", "-o", "-", sample("webxr")).output
        for name in ["a", "b", "c", "d"] { #expect(try folder.data(name) == expected) }
    }

    @Test(arguments: [[], ["--type", "none"]]) func zstExtensionCompressesOutput(filter: [String]) throws {
        let script = #""$0" convert -q "${@:2}" -o "$1.zst" && "$0" convert -q "${@:2}" -o "$1""#
        let finished = try shell(script, [folder("a.ndjson")] + filter + [sample("webxr")])
        #expect(finished.status == 0, "\(finished.errors)")
        try tool("zstd", "-q", "-t", folder("a.ndjson.zst"))
        #expect(try Data(tool("zstd", "-dqc", folder("a.ndjson.zst")).utf8) == folder.data("a.ndjson"))
        #expect(try folder.data("a.ndjson").isEmpty == !filter.isEmpty)
    }

    /// Options, and the number of records of the focus sample that they select.
    ///
    /// The sample has seven records. The first core ping was queued at 2020-03-02T13:04:51.708Z, and the focus-event
    /// ping 19 milliseconds earlier. The held record has no time.
    private static let filters: [(options: [String], count: Int)] = [
        ([], 7), (["--uploadable"], 6), (["--system", "mozilla"], 7), (["--system", "sift"], 0),
        (["--type", "core"], 3), (["--type", "focus-event"], 4), (["--type", "core", "--type", "focus-event"], 7),
        (["--type", "Core"], 0), (["--client", "bf95fb51-ded1-463b-9a9e-043c9d711517"], 7), (["--client", "x"], 0),
        (["--since", "2020-03-02"], 6), (["--since", "2020-03-02T13:04:51.708Z"], 5),
        (["--since", "2020-03-02T13:04:51.709Z"], 4), (["--since", "2020-03-02T14:04:51.709+01:00"], 4),
        (["--until", "2020-03-02T13:04:51.708Z"], 1), (["--until", "2020-03-02T13:04:51.709Z"], 2),
        (["--until", "2020-03-02"], 0), (["--until", "9999-12-31"], 6), (["--since", "2020-03-04"], 0),
        (["--since", "2020-03-03", "--until", "2020-03-02"], 0),
        (["--uploadable", "--type", "focus-event", "--since", "2020-03-03"], 1),
    ]

    @Test(arguments: filters) func filtersSelectRecords(options: [String], count: Int) throws {
        #expect(try pingferryLines(options + [sample("focus")]).count == count)
    }

    @Test func recordWithRepeatedIDIsKeptWithNote() throws {
        try folder.copySample("webxr", to: "first")
        let second = try folder.copySample("webxr")
        let stores = try FileManager.default.subpathsOfDirectory(atPath: second)
        let ping = try #require(stores.filter { $0.contains("-core/-t-") }.min())
        let text = String(decoding: try folder.data("webxr/\(ping)"), as: UTF8.self)
        let changed = text.replacing(#/"seq" : \d+/#, with: "\"seq\" : 4711")
        #expect(changed != text)
        try folder.put(changed, "webxr/\(ping)")

        let records = try records(folder("first"), second)
        #expect(records.count == 7)
        let last = try #require(records.last)
        #expect((last["payload"] as? [String: Any])?["seq"] as? Int == 4711)
        #expect(last["notes"] as? [String] == ["P11 id also used by an earlier record with different content"])
        #expect(records.filter { $0["id"] as? String == last["id"] as? String }.count == 2)
    }

    @Test func repeatedCaptureHasNoEffect() throws {
        let finished = try pingferry("convert", "--json", "-o", folder("a"), sample("webxr"), sample("webxr"))
        #expect(finished.status == 0)
        #expect(try finished.json()["duplicates"] as? Int == 6)
        #expect(try folder.data("a") == pingferry("convert", "-o", "-", sample("webxr")).output)
    }

    @Test func numberOfJobsDoesNotAffectOutput() throws {
        let alone = try pingferryLines(["--jobs", "1"] + samples.map(sample))
        for jobs in ["2", "7", "256"] {
            #expect(try pingferryLines(["--jobs", jobs] + samples.map(sample)) == alone)
        }
    }

    @Test func closedPipeEndsProgramSilently() throws {
        let load = try SharedCaptures.load(pings: 2000)
        let script = #""$0" convert -o - "$1" | head -n 1; echo "${PIPESTATUS[0]}""#
        let finished = try shell(script, [load])
        #expect(finished.lines.count == 2)
        #expect(finished.lines.last == "141")
        #expect(finished.errors == "")
    }
}
