import Foundation
import Mozilla
import Telemetry
import TestSupport
import Testing

/// Tests of the command `gaps`, and of the gaps in tables and reports.
@Suite struct GapsCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns a core ping with the sequence number `number`.
    private func ping(
        _ number: String, client: String? = "C1", type: String = "core", minute: Int, salt: Int = 0
    ) -> Record {
        let payload = Array(#"{"salt":\#(salt),"seq":\#(number)}"#.utf8)
        return Record(
            system: .mozilla, type: type, id: "\(client ?? "") \(type) \(number) \(minute)", client: client,
            time: Sample.time(minute), payload: payload, source: Sample.source, held: [.noTarget])
    }

    private func pings(_ numbers: [Int], client: String = "C1", type: String = "core", from minute: Int = 0) -> [Record]
    {
        numbers.enumerated().map { ping("\($1)", client: client, type: type, minute: minute + $0) }
    }

    private func gaps(_ arguments: String...) throws -> FinishedProgram {
        try shell(#""$0" gaps "$@""#, arguments)
    }

    private struct Totals: Decodable, Equatable {
        var clients = 1
        var gaps = 0
        var missing = 0
        var records = 0
        var repeated = 0
        var restarts = 0
        var sequences = 1
    }

    private struct List: Decodable, Equatable {
        var both = 0
        var inputOnly = 0
        var listOnly = 0
        var neither = 0
        var rejectedRows = 0
        var repeatedRows = 0
        var rows = 0
    }

    private struct Gap: Decodable, Equatable {
        let count: Int
        let numbers: [Int]
        let timeAfter: String?
        let timeBefore: String?
    }

    private struct Run: Decodable {
        struct Repetition: Decodable {
            let count: Int
            let numbers: [Int]
        }

        let missing: [Gap]
        let present: [[Int]]
        let records: Int
        let repeated: [Repetition]
    }

    private struct Sequence: Decodable {
        struct Ranges: Decodable {
            let inputOnly: [[Int]]
            let listOnly: [[Int]]
            let neither: [[Int]]
        }

        let client: String
        let counter: Int?
        let list: Ranges?
        let numbersAtEnd: [Int]?
        let runs: [Run]
        let system: String
        let type: String
    }

    private struct Result: Decodable {
        let duplicates: Int
        let gaps: Totals
        let list: List?
        let omitted: [String: Int]
        let sequences: [Sequence]
    }

    private func result(_ arguments: String..., status: Int32 = 0) throws -> Result {
        let finished = try shell(#""$0" gaps --json "$@""#, arguments)
        #expect(finished.status == status, "\(finished.errors)")
        return try JSONDecoder().decode(Result.self, from: finished.output)
    }

    @Test func sampleWithGap() throws {
        let finished = try gaps(sample("damaged"))
        #expect(finished.status == 1)
        #expect(
            finished.lines[0]
                == "2 sequences of 1 client with 4 records: 4 numbers missing in 1 gap, 0 repeated, 0 restarts")
        #expect(finished.lines[1] == "records in no sequence: 1 without a number")
        #expect(finished.lines.contains("sequences with gaps:") && finished.lines.contains("gaps:"))
        #expect(finished.lines.last?.contains("  missing  41-44        4  2019-01-14T07:20:13.410Z  ") == true)
    }

    @Test func sampleWithoutGaps() throws {
        let finished = try gaps(sample("webxr"))
        #expect(finished.status == 0)
        #expect(finished.errors == "")
        #expect(
            finished.lines == [
                "2 sequences of 1 client with 5 records: 0 numbers missing in 0 gaps, 0 repeated, 0 restarts",
                "records in no sequence: 1 without a number",
            ])
        #expect(try gaps("--quiet", sample("webxr")).text == "")
    }

    @Test func systemsWithoutNumbers() throws {
        let finished = try gaps(sample("shop"))
        #expect(
            finished.lines == [
                "0 sequences of 0 clients with 0 records: 0 numbers missing in 0 gaps, 0 repeated, 0 restarts",
                "records in no sequence: 6 of types that are not numbered",
            ])
    }

    @Test func equalCapturesAreReadOnce() throws {
        let bundle = folder("a.tar.zst")
        _ = try pingferry("bundle", "-q", "-o", bundle, sample("damaged"))
        let once = try result(sample("damaged"), status: 1)
        let twice = try result(sample("damaged"), bundle, status: 1)
        #expect(once.gaps == Totals(gaps: 1, missing: 4, records: 4, sequences: 2))
        #expect(twice.gaps == once.gaps)
        #expect(twice.duplicates > 0)
    }

    @Test func runsGapsAndRepetitions() async throws {
        var records = pings([40, 41, 44, 1, 2, 4, 9])
        records += pings([3], client: "c1", from: 20) + pings([7, 9], type: "focus-event")
        records.append(ping("41", minute: 1, salt: 1))
        records += ["-1", "7.5", "9223372036854775808"].enumerated().map { ping($1, client: "C2", minute: $0) }
        records.append(ping("1", client: nil, minute: 0))
        let found = try result(try await Sample.bundle(records.reversed(), at: folder("a.tar.zst")))
        #expect(found.gaps == Totals(gaps: 3, missing: 7, records: 11, repeated: 1, restarts: 1, sequences: 2))
        #expect(found.omitted["invalid"] == 3)
        #expect(found.omitted["withoutClient"] == 1)
        #expect(found.sequences.map(\.type) == ["core", "focus-event"])
        #expect(found.sequences.allSatisfy { $0.system == "mozilla" && $0.list == nil })
        let runs = try #require(found.sequences.first?.runs)
        #expect(runs.map(\.present) == [[[40, 41], [44, 44]], [[1, 4], [9, 9]]])
        #expect(runs.map(\.records) == [4, 5])
        #expect(runs.map { $0.repeated.map(\.numbers) } == [[[41, 41]], []])
        #expect(runs.map { $0.repeated.map(\.count) } == [[1], []])
        let expected = Gap(
            count: 2, numbers: [42, 43], timeAfter: Sample.time(2).description, timeBefore: Sample.time(1).description)
        #expect(runs.first?.missing == [expected])
        #expect(runs.last?.missing.map(\.numbers) == [[5, 8]])
    }

    @Test func outputIsCanonicalAndDeterministic() async throws {
        let bundle = try await Sample.bundle(pings([1, 3, 9, 1, 4]), at: folder("a.tar.zst"))
        let json = try gaps("--json", "-j", "1", bundle).output
        #expect(try gaps("--json", "-j", "2", bundle).output == json)
        let script = """
            import json, sys
            text = sys.stdin.read()
            assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\\n"
            """
        try tool(["python3", "-c", script], input: [UInt8](json))
    }

    @Test func filtersSelectRecords() async throws {
        let records = pings([1, 3]) + pings([5, 9], client: "C2") + pings([2, 3], type: "focus-event")
        let bundle = try await Sample.bundle(records, at: folder("a.tar.zst"))
        #expect(try result("--client", "c2", bundle).gaps == Totals(gaps: 1, missing: 3, records: 2))
        #expect(try result("--type", "focus-event", bundle).gaps == Totals(records: 2))
        #expect(try result("--uploadable", bundle).gaps == Totals(clients: 0, sequences: 0))
    }

    // MARK: Lists

    private let header = "system,client,type,seq\n"

    @Test(arguments: [false, true]) func expectedList(isNDJSON: Bool) async throws {
        let bundle = try await Sample.bundle(pings([1, 2, 5, 9]), at: folder("a.tar.zst"))
        let rows = [("c1", 2), ("C1", 3), ("C1", 2), ("C1", 11), ("C9", 4), ("C9", 6)]
        let list =
            isNDJSON
            ? rows.map { #"{"client":"\#($0.0)","seq":\#($0.1),"system":"mozilla","type":"core"}"# + "\n" }.joined()
            : header + rows.map { "mozilla,\"\($0.0)\",core,\($0.1)\r\n" }.joined()
        let path = try folder.put(list, "list")
        let found = try result("--expect", path, bundle)
        #expect(found.list == List(both: 1, inputOnly: 3, listOnly: 4, neither: 6, repeatedRows: 1, rows: 6))
        #expect(found.sequences.map { $0.list?.inputOnly } == [[[1, 1], [5, 5], [9, 9]], []])
        #expect(found.sequences.map { $0.list?.listOnly } == [[[3, 3], [11, 11]], [[4, 4], [6, 6]]])
        #expect(found.sequences.map { $0.list?.neither } == [[[4, 4], [6, 8], [10, 10]], [[5, 5]]])
        let lines = try gaps("--expect", path, bundle).lines
        #expect(
            lines.contains(
                "\(path): 6 rows (1 repeated); numbers in both: 1, only in the input: 3, only in the list: 4, in neither: 6"
            ))
        #expect(lines.contains("differences from the list:"))
        let filtered = try result("--expect", path, "--client", "C9", bundle)
        #expect(filtered.list == List(listOnly: 2, neither: 1, rejectedRows: 4, rows: 6))
    }

    @Test func emptyListIsCompared() async throws {
        let bundle = try await Sample.bundle(pings([1, 3]), at: folder("a.tar.zst"))
        let found = try result("--expect", try folder.put("", "list"), bundle)
        #expect(found.list == List(inputOnly: 2, neither: 1))
    }

    @Test(
        "An error in a list has a line number and a hint",
        arguments: [
            ("mozilla,C1,core,x\n", "line 2: seq is not an integer from 0 to 9223372036854775807"),
            ("mozilla,C1,core,1\nfoo,C1,core,1\n", #"line 3: unknown system "foo""#),
            ("sift,C1,mobile_events,1\n", #"line 2: records of sift with the type "mobile_events" are not numbered"#),
            ("mozilla,\"C1,core,1\n", "line 2: a quotation mark is not closed"),
        ])
    func malformedList(rows: String, message: String) throws {
        let path = try folder.put(header + rows, "list")
        let finished = try gaps("--expect", path, sample("webxr"))
        #expect(finished.status == 65)
        #expect(finished.text == "")
        #expect(finished.errorLines.first == "pingferry: \(path): \(message)")
        #expect(finished.errorLines.last?.hasPrefix("hint: pass NDJSON, or CSV with a header") == true)
    }

    @Test func unusableArguments() throws {
        let list = try folder.put(header, "list")
        #expect(try gaps().status == 64)
        #expect(try gaps("--expect", folder("none"), sample("webxr")).status == 66)
        #expect(try gaps("--expect", folder.path, sample("webxr")).status == 65)
        #expect(try gaps(folder("none")).status == 66)
        for options in [["--since", "2020-01-01"], ["--until", "2020-01-01"], ["--uploadable"]] {
            let words = ["--expect", list] + options + [sample("webxr")]
            let finished = try shell(#""$0" gaps "$@""#, words)
            #expect(finished.status == 64)
            #expect(finished.errors.contains("\(options[0]) cannot be used with --expect"))
        }
    }

    // MARK: Tables and reports

    private func rows(_ database: String) throws -> String {
        let script = """
            import sqlite3, sys
            for row in sqlite3.connect(sys.argv[1]).execute(
                "SELECT n, type, client, run, reason, first_number, last_number, count, number_before, number_after FROM gaps "
                "ORDER BY n"):
                print(*row, sep="|")
            """
        return try tool("python3", "-c", script, database)
    }

    @Test func tablesContainGaps() async throws {
        let records = pings([4, 6, 1, 2]) + pings([8], client: "c1", from: 9) + pings([1, 9], type: "focus-event")
        let bundle = try await Sample.bundle(records, at: folder("a.tar.zst"))
        _ = try pingferry("convert", "-q", "-o", folder("a.sqlite"), bundle)
        #expect(
            try rows(folder("a.sqlite")) == """
                1|core|C1|1|missing|5|5|1|4|6
                2|core|C1|2|restart|None|None|0|6|1
                3|core|C1|2|missing|3|7|5|2|8
                4|focus-event|C1|1|missing|2|8|7|1|9

                """)
        _ = try pingferry("convert", "-q", "-o", folder("a.csv"), bundle)
        let lines = try folder.text("a.csv/gaps.csv").split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines[1].hasPrefix("1,mozilla,core,C1,1,missing,5,5,1,4,6,2020-"))
        // A part of a bundle lacks the numbers of the other parts.
        _ = try pingferry("convert", "-q", "-o", folder("part.sqlite"), "--segments", "1", bundle)
        #expect(try rows(folder("part.sqlite")) == "")
    }

    @Test func reportContainsGaps() async throws {
        let records = pings([4, 6, 1, 2, 9]) + [ping("6", minute: 1, salt: 1)]
        let bundle = try await Sample.bundle(records, at: folder("a.tar.zst"))
        func page(_ options: String...) throws -> String {
            let finished = try shell(#""$0" report -q --force -o "$1" "${@:2}""#, [folder("a.html")] + options)
            #expect(finished.status == 0, "\(finished.errors)")
            return try folder.text("a.html")
        }
        let whole = try page(bundle)
        for text in [
            "<b id=\"missing\">7</b> missing numbers in 2 gaps", "<b id=\"repeated\">1</b>", "<b id=\"restarts\">1</b>",
            "<td>3–8</td>", "<td>5</td>", "<section id=\"gaps\"",
        ] {
            #expect(whole.contains(text), "\(text)")
        }
        let masked = try page("--minimum-count", "5", bundle)
        #expect(masked.contains("<b id=\"repeated\">&lt;5</b>"))
        #expect(!masked.contains("<td>3–8</td>") && !masked.contains("<td>5</td>"))
        #expect(try page(sample("webxr")).contains("<p id=\"no-gaps\">"))
    }

    @Test("All of 100 planted gaps are found in captures and tables, and none is invented")
    func plantedGaps() async throws {
        var generator = SeededGenerator(seed: 36)
        var records: [Record] = []
        var planted: Set<String> = []
        for client in 0..<20 {
            var number = Int.random(in: 2...100, using: &generator)
            for index in 0..<5 {
                for _ in 0..<Int.random(in: 1...20, using: &generator) {
                    records.append(ping("\(number)", client: "client-\(client)", minute: number))
                    number += 1
                }
                let count = Int.random(in: 1...30, using: &generator)
                planted.insert("client-\(client) \(number)-\(number + count - 1)")
                number += count
                if index == 4 { records.append(ping("\(number)", client: "client-\(client)", minute: number)) }
            }
        }
        records.shuffle(using: &generator)
        let half = records.count / 2
        let first = try await Sample.bundle(Array(records[..<half]), at: folder("a.tar.zst"))
        let second = try await Sample.bundle(Array(records[half...]), at: folder("b.tar.zst"))
        let found = try result(first, second)
        let ranges = found.sequences.flatMap { sequence in
            sequence.runs.flatMap(\.missing).map { "\(sequence.client) \($0.numbers[0])-\($0.numbers[1])" }
        }
        #expect(planted.count == 100)
        #expect(ranges.count == 100)
        #expect(Set(ranges) == planted)
        #expect(found.gaps.restarts == 0 && found.gaps.repeated == 0)
        let lines = try gaps(first, second).lines
        #expect(lines.contains("  and 80 more; --json lists all"))
    }

    // MARK: Counters of apps

    /// Writes a container with core pings and with preferences that contain `counter`, and returns its path.
    private func makeContainer(pings: [(number: Int, app: String)], counter: Int) throws -> String {
        for (index, (number, app)) in pings.enumerated() {
            let (id, time) = (UUID().uuidString, 1_527_163_200 + index)
            try folder.put(
                """
                {"timestamp":\(time).5,"documentId":"\(id)","pingType":"core","uploadPath":\
                "/submit/telemetry/\(id)/core/\(app)/5.0/release/2?v=4",\
                "measurements":{"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","seq":\(number)}}
                """, "app/Documents/MozTelemetry-Default-core/-t-\(time).5.json")
        }
        let prefix = "<key>telemetry-key-prefix-"
        try folder.put(
            """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            \(prefix)clientId</key><string>4f8e2d6a-1b7c-4e39-8a50-c2d7f1b6e083</string>
            \(prefix)core-seq</key><integer>\(counter)</integer>\(prefix)other-seq</key><integer>7</integer>
            \(prefix)core-dailyUploadCount</key><integer>3</integer>
            \(prefix)core-lastUploadTimestamp</key><real>1527163209.512348</real></dict></plist>
            """, "app/Library/Preferences/org.mozilla.ios.Focus.plist")
        return folder("app")
    }

    private func scannedFacts(_ path: String) throws -> [String] {
        let stores = try pingferry("scan", "--json", path).json()["stores"] as? [[String: Any]] ?? []
        return stores.flatMap { $0["facts"] as? [String] ?? [] }
    }

    @Test("The counter of an app is compared with its newest ping")
    func counter() throws {
        let path = try makeContainer(pings: [(8, "Focus"), (9, "Focus")], counter: 12)
        let found = try #require(try result(path).sequences.first)
        #expect(found.counter == 12)
        #expect(found.numbersAtEnd == [10, 12])
        #expect(try result(path).sequences.count == 1)
        #expect(try gaps(path).lines.contains("numbers at the end:"))
        for words in [["--since", "2018-01-01"], ["--until", "2030-01-01"], ["--uploadable"]] {
            #expect(try shell(#""$0" gaps "$@""#, words + [path]).lines.contains("numbers at the end:") == false)
        }
        #expect(
            try scannedFacts(path) == [
                "core: daily upload count 3, last upload on 2018-05-24 (UTC)",
                "core: the counter is 12 and the newest ping has 9, so that 3 numbers at the end (10-12) were sent by "
                    + "the app or lost",
            ])
    }

    @Test("A counter is not compared if it equals the newest number, or if the sequence restarts")
    func noNumbersAtEnd() throws {
        let path = try makeContainer(pings: [(8, "Focus"), (9, "Focus")], counter: 9)
        #expect(try result(path).sequences.map(\.numbersAtEnd) == [nil])
        #expect(try scannedFacts(path).count == 1)
        _ = try makeContainer(pings: [(8, "Focus"), (1, "Focus"), (2, "Focus")], counter: 9)
        let restarted = try #require(try result(path).sequences.first)
        #expect(restarted.runs.count == 2)
        #expect(restarted.numbersAtEnd == nil)
    }

    @Test("The counter of a Glean database is compared with the newest pending ping")
    func gleanCounter() throws {
        let client = "5f0d1c7a-2b94-4e0c-9d3e-8a61b7c2f415"
        let id = "0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60"
        try folder.put(
            """
            /submit/org-mozilla-ios-firefox/baseline/1/\(id)
            {"client_info":{"client_id":"\(client)"},"ping_info":{"seq":41}}
            """, "app/Library/glean_data/pending_pings/\(id)")
        func number(_ value: Int, _ bytes: Int = 8) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 0xFF) } }
        func text(_ text: String) -> [UInt8] { number(text.utf8.count) + Array(text.utf8) }
        func entry(_ key: String, _ variant: Int, _ data: [UInt8]) -> [UInt8] {
            let value = [9] + number(data.count + 4) + number(variant, 4) + data
            return text(key) + number(value.count) + value
        }
        let database =
            number(1) + [1] + text("user") + number(0, 4) + number(2)
            + entry("glean_client_info#client_id", 9, text(client))
            + entry("glean_internal_info#baseline#sequence", 1, number(44, 4))
        try folder.makeFolder("app/Library/glean_data/db")
        try Data(database).write(to: URL(filePath: folder("app/Library/glean_data/db/data.safe.bin")))
        #expect(try result(folder("app")).sequences.map(\.numbersAtEnd) == [[42, 43]])
        let facts = try scannedFacts(folder("app"))
        #expect(
            facts.contains(
                "baseline: the counter is 43 and the newest ping has 41, so that 2 numbers at the end (42-43) were "
                    + "sent by the app or lost"), "\(facts)")
    }

    @Test("A store reports all apps of its pings, and types with more pings than a job sends")
    func manyPings() throws {
        let pings = (1...41).map { ($0, $0 == 3 ? "Klar" : "Focus") }
        let path = try makeContainer(pings: pings, counter: 41)
        #expect(
            try scannedFacts(path).prefix(2) == [
                "records of 2 apps: Focus, Klar",
                "mozilla/core: 41 records; a job sends at most 40 of a type for a client",
            ])
        try FileManager.default.removeItem(atPath: folder("app"))
        #expect(try scannedFacts(try makeContainer(pings: Array(pings.suffix(38)), counter: 41)).count == 1)
    }
}
