import Foundation
import TestSupport
import Testing

/// Tests of the tables and timelines that `convert` writes, and its errors.
@Suite struct TableCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let tables = [
        "attributes", "clients", "columns", "core", "events", "gaps", "holds", "meta", "metric_definitions", "metrics",
        "notes", "problems", "quarantine", "queues", "records", "repeats", "searches", "sift_readings", "sift_states",
        "stores",
    ]

    private func query(_ database: String, _ sql: String) throws -> String {
        let script = """
            import sqlite3, sys
            for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row, sep="|")
            """
        return try tool("python3", "-c", script, database, sql)
    }

    @Test(
        "The name of the output selects the format, unless --to does",
        arguments: [
            (["-o", "a.sqlite"], "sqlite"), (["-o", "a.sqlite3"], "sqlite"), (["-o", "a.db"], "sqlite"),
            (["-o", "a.csv"], "csv"), (["-o", "a/"], "csv"), (["-o", "a.timeline.jsonl"], "timesketch"),
            (["-o", "a.ndjson"], "ndjson"), (["-o", "a.jsonl"], "ndjson"), (["-o", "a.parquet"], "parquet"),
            (["-o", "a", "--to", "sqlite"], "sqlite"), (["-o", "a", "--to", "csv"], "csv"),
            (["-o", "a", "--to", "parquet"], "parquet"), (["-o", "a.parquet/"], "parquet"),
            (["-o", "a.csv", "--to", "ndjson"], "ndjson"), (["-o", "a.db", "--to", "timesketch"], "timesketch"),
        ])
    func formats(options: [String], expected: String) throws {
        let finished = try shell(
            #"cd "$1" && "$0" convert "$2" --json "${@:3}""#, [folder.path, sample("webxr")] + options)
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(try finished.json()["to"] as? String == expected)
        let name = try #require(folder.names.first)
        #expect(folder.names.count == 1)
        let path = folder(name)
        switch expected {
        case "parquet":
            let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            #expect(files == (Self.tables.map { "\($0).parquet" } + ["datapackage.json", "load.sql"]).sorted())
            #expect(try folder.data("\(name)/records.parquet").starts(with: Data("PAR1".utf8)))
        case "sqlite": #expect(try folder.data(name).starts(with: Data("SQLite format 3\0".utf8)))
        case "csv":
            let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            #expect(files == (Self.tables.map { "\($0).csv" } + ["datapackage.json", "load.sql"]).sorted())
        case "timesketch": #expect(try folder.text(name).contains("\"timestamp_desc\":\"Ping queued\""))
        default: #expect(try folder.data(name) == pingferry("convert", "-o", "-", sample("webxr")).output)
        }
    }

    @Test(arguments: [
        ["-o", "-", "--to", "sqlite"], ["-o", "-", "--to", "csv"], ["-o", "/dev/stdout", "--to", "sqlite"],
        ["-o", "a.sqlite", "--payload-only"], ["-o", "a", "--to", "excel"], ["-o", "-", "--to", "parquet"],
        ["-o", "-", "--to", "timesketch", "--json"], ["-o", "a.timeline.jsonl.zst"], ["-o", "a.zst", "--to", "sqlite"],
        ["-o", "a.sqlite", "--spreadsheet"], ["-o", "a", "--spreadsheet"],
    ])
    func usage(options: [String]) throws {
        let finished = try shell(#"cd "$1" && "$0" convert "$2" "${@:3}""#, [folder.path, sample("webxr")] + options)
        #expect(finished.status == 64)
        #expect(finished.errors.hasPrefix("pingferry: "))
        #expect(folder.names == [])
    }

    @Test func summaryCountsRows() throws {
        let finished = try pingferry("convert", "--json", "-o", folder("a.sqlite"), sample("webxr"))
        let rows = try #require(try finished.json()["rows"] as? [String: Int])
        #expect(rows.keys.sorted() == Self.tables)
        for table in Self.tables {
            #expect(try query(folder("a.sqlite"), "SELECT count(*) FROM \(table)") == "\(rows[table] ?? -1)\n")
        }
        #expect(rows["records"] == 6)
        #expect(rows["events"] ?? 0 > 10)
    }

    private static let definitions = "\(repository)/Tests/Fixtures/glean-definitions.json"

    @Test("Definitions give labels to events, and descriptions and units to metrics")
    func gleanDefinitions() throws {
        let options = ["--glean-definitions", Self.definitions]
        let path = folder("a.sqlite")
        let capture = sample("firefox-today")
        let finished = try RunningProgram([pingferryPath, "convert", "-q", "-o", path, capture] + options).finish()
        #expect(finished.status == 0 && finished.errors == "")
        let label = "A card of the first run was shown"
        #expect(
            try query(path, "SELECT DISTINCT name, label FROM events WHERE category = 'onboarding' ORDER BY name")
                == "onboarding.card_view|\(label)\nonboarding.close_tap|The first run was closed\n")
        #expect(
            try query(
                path, "SELECT DISTINCT name, number, unit, description FROM metrics WHERE unit > '' ORDER BY name")
                == "app.startup|1524302117.0|nanosecond|The time from the start of the app to its first page\n"
                + "fx_suggest.position|2.0|suggestions|The position of the suggestion in the list\n")
        #expect(
            try query(path, "SELECT count(*), count(unit), count(sensitivity), count(labels) FROM metric_definitions")
                == "8|1|8|2\n")
        let joined = "events JOIN metric_definitions USING (name) WHERE name = 'toolbar.tapped'"
        #expect(try query(path, "SELECT DISTINCT sensitivity, pings FROM \(joined)") == "interaction|events\n")
        let lines = try RunningProgram(
            [pingferryPath, "convert", "-q", "--labels", "-o", "-", capture] + options
        ).finish()
        let labels = #""labels":["\#(label)","App started again","The first run was closed"]"#
        #expect(lines.lines.contains { $0.contains(labels) })
        let page = folder("a.html")
        #expect(
            try RunningProgram([pingferryPath, "report", "-q", "-o", page, capture] + options).finish().status == 0)
        let html = try folder.text("a.html")
        #expect(html.contains(label) && html.contains("The position of the suggestion in the list"))
        #expect(try pingferry("report", "-q", "-o", folder("b.html"), capture).status == 0)
        #expect(try !folder.text("b.html").contains(label))
    }

    @Test("Invalid definitions are reported and ignored, and an invalid file is an error")
    func invalidDefinitions() throws {
        let path = folder("d.json")
        func convert(_ output: String = "a.sqlite", _ more: String...) throws -> FinishedProgram {
            try RunningProgram(
                [pingferryPath, "convert", "--force", "-q", "-o", folder(output), sample("webxr")]
                    + ["--glean-definitions", path] + more
            ).finish()
        }
        #expect(try convert().status == 66)
        try folder.put(#"{"a.b":{"type":"counter"},"a.c":{"type":7}}"#, "d.json")
        let some = try convert("a.sqlite", "--glean-definitions", Self.definitions)
        #expect(some.status == 0)
        #expect(some.errors == "pingferry: \(path): definition ignored: a.c: type is not a string at byte 40\n")
        #expect(try query(folder("a.sqlite"), "SELECT count(*) FROM metric_definitions") == "9\n")
        let many = (0..<12).map { "\"a.b\($0)\":7" }.joined(separator: ",")
        try folder.put("{\(many)}", "d.json")
        let reported = try convert().errors.split(separator: "\n")
        #expect(reported.count == 11 && reported.last == "pingferry: \(path): and 2 more ignored definitions")
        for contents in ["{", "7"] {
            try folder.put(contents, "d.json")
            let finished = try convert("b.sqlite")
            #expect(finished.status == 65)
            #expect(finished.errors.hasPrefix("pingferry: \(path): "))
            #expect(finished.errors.hasSuffix("hint: pass the output of glean_parser dump metrics.yaml\n"))
        }
        try tool("truncate", "-s", "\((64 << 20) + 1)", path)
        let large = try convert("b.sqlite")
        #expect(large.status == 65 && large.errors.contains("larger than 64 MiB"))
        #expect(!folder.names.contains("b.sqlite"))
        #expect(try convert("b.ndjson").status == 64)
        #expect(try convert("d.json", "--to", "sqlite").status == 73)
    }

    @Test func filtersSelectRecords() throws {
        let options = ["--system", "mozilla", "--type", "core", "--uploadable", "--since", "2020-03-02T20:00:00Z"]
        let lines = try RunningProgram(
            [pingferryPath, "convert", "-q", "-o", "-", sample("focus"), sample("shop")] + options
        ).finish()
        let path = folder("a.sqlite")
        _ = try RunningProgram(
            [pingferryPath, "convert", "-q", "-o", path, sample("focus"), sample("shop")] + options
        ).finish()
        #expect(lines.lines.count == 2)
        #expect(try query(path, "SELECT type, uploadable FROM records") == "core|1\ncore|1\n")
        #expect(
            try query(path, "SELECT key, value FROM meta ORDER BY key")
                == """
                duplicates|0
                filters|{"since":"2020-03-02T20:00:00.000Z","system":["mozilla"],"type":["core"],"uploadable":true}
                input.1|focus
                input.2|shop
                newest|2020-03-03T12:15:40.960Z
                newest_plausible|2020-03-03T12:15:40.960Z
                tables|1
                tool|pingferry \(programVersion())

                """)
    }

    @Test("Dropped duplicates are listed with the kept record, and the inputs of a bundle with their hashes")
    func repeats() throws {
        let archive = folder("webxr.tar")
        try tool("tar", "-cf", archive, "-C", "\(repository)/samples", "webxr")
        #expect(try pingferry("bundle", "-q", "-o", folder("b.tar.zst"), archive).status == 0)
        let captures = [sample("webxr"), folder("b.tar.zst")]
        let finished = try pingferry("convert", "--json", "-o", folder("a.db"), captures[0], captures[1])
        #expect(finished.status == 0, "\(finished.errors)")
        #expect(try finished.json()["duplicates"] as? Int == 6)
        let counts = try query(
            folder("a.db"),
            """
            SELECT count(*), count(DISTINCT records.record), sum(payload_equal), min(repeats.capture), max(records.capture)
            FROM repeats JOIN records USING (record, system, type, id)
            """)
        #expect(counts == "6|6|6|webxr.tar|webxr\n")
        let hash = try tool("sha256sum", archive).prefix(64)
        #expect(
            try query(
                folder("a.db"),
                "SELECT key, value FROM meta WHERE key LIKE '%.2.%' OR key = 'duplicates' ORDER BY key")
                == "duplicates|6\ninput.2.1|webxr.tar\nsha256.2.1|\(hash)\n")
    }

    @Test("CSV for spreadsheets begins with a byte order mark, and truncated cells are counted")
    func spreadsheet() throws {
        let id = "0C5A3B52-6E0B-4C8D-9F53-000000000000"
        let text = String(repeating: "a", count: 40_000)
        let ping = #"""
            {"timestamp":1527163208.5,"documentId":"\#(id)","pingType":"core","measurements":{"v":7,"device":"\#(text)"},\#
            "uploadPath":"/submit/telemetry/\#(id)/core/Focus/5.0/release/2?v=4"}
            """#
        try folder.put(ping, "phone/MozTelemetry-Default-core/-t-1.json")
        let finished = try pingferry(
            "convert", "--json", "--spreadsheet", "-o", folder("s.csv"), folder("phone"))
        #expect(finished.status == 0)
        // The device is in two tables, and in the payload.
        #expect(try finished.json()["truncatedCells"] as? Int == 3)
        #expect(finished.errors.hasPrefix("pingferry: 3 cells truncated to 32767 characters\n"), "\(finished.errors)")
        let records = try folder.data("s.csv/records.csv")
        #expect(records.starts(with: [0xEF, 0xBB, 0xBF]))
        #expect(String(decoding: records, as: UTF8.self).contains("aaa… [truncated: 40000 characters]\""))
        #expect(try pingferry("convert", "-q", "-o", folder("p.csv"), folder("phone")).errors == "")
        let plain = try folder.text("p.csv/records.csv")
        #expect(plain.contains(text) && plain.hasPrefix("record,"))
    }

    @Test("The recipes for SQLite and jq give the same answers")
    func recipes() throws {
        let finished = try shell(
            #"PINGFERRY_NO_INSTALL=1 python3 "$1/Tests/Oracles/recipes" "$0""#, [repository])
        #expect(finished.status == 0, "\(finished.text)\(finished.errors)")
        for name in ["sqlite", "jq"] { #expect(finished.lines.contains("\(name): 6 answers compared")) }
    }

    @Test func bundleIsIdentifiedByDigest() throws {
        let bundled = try pingferry("bundle", "--json", "-o", folder("b.tar.zst"), sample("webxr"))
        let digest = try #require(try bundled.json()["digest"] as? String)
        #expect(try pingferry("convert", "-q", "-o", folder("a.db"), folder("b.tar.zst")).status == 0)
        #expect(
            try query(folder("a.db"), "SELECT key, value FROM meta WHERE key LIKE '%.1' ORDER BY key")
                == "digest.1|\(digest)\ninput.1|b.tar.zst\ninput.1.1|webxr\n")
    }

    @Test("The number of jobs affects neither rows nor their order")
    func determinism() throws {
        let load = try SharedCaptures.load(pings: 1200)
        for jobs in ["1", "8"] {
            for name in ["t.csv", "t.timeline.jsonl"] {
                #expect(
                    try pingferry("convert", "-q", "--jobs", jobs, "-o", folder("\(jobs)\(name)"), load).status == 0)
            }
        }
        try tool("diff", "-r", folder("1t.csv"), folder("8t.csv"))
        #expect(try folder.data("1t.timeline.jsonl") == folder.data("8t.timeline.jsonl"))
        #expect(try folder.text("1t.csv/records.csv").split(separator: "\n").count == 1201)
    }

    @Test func timelineIsWrittenToPipe() throws {
        let piped = try shell(
            #""$0" convert -q -o - --to timesketch "$1" 2> "$2" | cat"#, [sample("webxr"), folder("errors")])
        #expect(try pingferry("convert", "-q", "-o", folder("a.timeline.jsonl"), sample("webxr")).status == 0)
        #expect(try piped.output == folder.data("a.timeline.jsonl"))
        #expect(try folder.text("errors") == "pingferry: 2 rows without a time omitted from the timeline\n")
    }

    @Test("A row that pandas before version 3 cannot represent is omitted from the timeline and counted")
    func timesOutOfRange() throws {
        // The first and last whole milliseconds within 64 bits of nanoseconds, and their neighbors outside.
        let times = ["1527163208.5", "9223372036.854", "9223372036.855", "10413792000", "253402300799"]
        for (number, time) in times.enumerated() {
            let id = "0C5A3B52-6E0B-4C8D-9F53-00000000000\(number)"
            let ping = #"""
                {"timestamp":\#(time),"documentId":"\#(id)","pingType":"core",\#
                "uploadPath":"/submit/telemetry/\#(id)/core/Focus/5.0/release/2?v=4","measurements":{"v":7}}
                """#
            try folder.put(ping, "phone/MozTelemetry-Default-core/-t-\(time).json")
        }
        let finished = try pingferry("convert", "-q", "-o", folder("a.timeline.jsonl"), folder("phone"))
        #expect(finished.status == 0)
        #expect(finished.errors == "pingferry: 3 rows without a time omitted from the timeline\n")
        let lines = try folder.text("a.timeline.jsonl").split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.last?.contains("2262-04-11T23:47:16.854000+00:00") == true)
    }

    // MARK: Errors

    private static let outputs = ["out.sqlite", "out.csv", "out.timeline.jsonl"]

    @Test(arguments: outputs) func existingOutputIsKept(name: String) throws {
        let path = folder(name)
        #expect(try pingferry("convert", "-q", "-o", path, sample("focus")).status == 1)
        let before = try snapshot(folder.path)
        let refused = try pingferry("convert", "-o", path, sample("webxr"))
        #expect(refused.status == 73)
        #expect(
            refused.errors == """
                pingferry: cannot create \(path): File exists
                hint: pass --force to replace it, or choose another name

                """)
        #expect(try snapshot(folder.path) == before)
        #expect(try pingferry("convert", "-q", "--force", "-o", path, sample("webxr")).status == 0)
        #expect(try snapshot(folder.path) != before)
        #expect(folder.names == [name])
    }

    @Test("--force replaces neither folders with other files nor files")
    func otherFoldersAreNotReplaced() throws {
        #expect(try pingferry("convert", "-q", "-o", folder("out.csv"), sample("webxr")).status == 0)
        try folder.put("mine", "out.csv/notes.txt")
        try folder.makeFolder("other.csv/events.csv")
        try folder.put("a file", "file.csv")
        let before = try snapshot(folder.path)
        for (name, reason) in [
            ("out.csv", "it contains files that do not belong to this output"),
            ("other.csv", "it contains files that do not belong to this output"), ("file.csv", "it is not a folder"),
        ] {
            let refused = try pingferry("convert", "--force", "-o", folder(name), sample("webxr"))
            #expect(refused.status == 73)
            #expect(refused.errorLines.first == "pingferry: cannot replace \(folder(name)): \(reason)")
        }
        #expect(try snapshot(folder.path) == before)
    }

    @Test(arguments: outputs) func missingAndReadOnlyFoldersAreReported(name: String) throws {
        let missing = try pingferry("convert", "-o", folder("no/\(name)"), sample("webxr"))
        #expect(missing.status == 73)
        #expect(
            missing.errorLines.first == "pingferry: cannot create \(folder("no/\(name)")): No such file or directory")
        // Even root cannot create files in /proc.
        let refused = try pingferry("convert", "-o", "/proc/\(name)", sample("webxr"))
        #expect(refused.status == 73)
        #expect(refused.errorLines.first?.hasPrefix("pingferry: cannot create /proc/") == true, "\(refused.errors)")
    }

    // MARK: Descriptions

    private func object(_ name: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: folder.data(name)) as? [String: Any])
    }

    @Test("The data package of a folder describes each file and column", arguments: ["csv", "parquet"])
    func dataPackage(format: String) throws {
        _ = try pingferry("convert", "-q", "-o", folder("a.sqlite"), sample("focus"))
        _ = try pingferry("convert", "-q", "-o", folder("a.\(format)"), sample("focus"))
        let resources = try #require(try object("a.\(format)/datapackage.json")["resources"] as? [[String: Any]])
        #expect(resources.compactMap { $0["name"] as? String }.sorted() == Self.tables)
        var described: [String] = []
        for resource in resources {
            let name = try #require(resource["name"] as? String)
            #expect(resource["path"] as? String == "\(name).\(format)")
            let schema = try #require(resource["schema"] as? [String: Any])
            for field in try #require(schema["fields"] as? [[String: Any]]) {
                described.append("\(name)|\(field["name"] ?? "")|\(field["description"] ?? "")")
            }
            let references = try #require(schema["foreignKeys"] as? [[String: Any]]?)
            #expect(
                (references == nil)
                    == !(try query(folder("a.sqlite"), "PRAGMA foreign_key_list(\(name))").contains("records")))
        }
        let columns = try query(folder("a.sqlite"), #"SELECT "table", "column", meaning FROM columns"#)
        #expect(described.sorted() == columns.split(separator: "\n").map(String.init).sorted())
    }

    @Test("The metadata for Datasette describes each table, view and column of the database")
    func datasetteMetadata() throws {
        let options = ["--datasette-metadata", folder("metadata.json"), sample("focus")]
        let finished = try shell(#""$0" convert -q -o "$1" "${@:2}""#, [folder("my.phone.sqlite")] + options)
        #expect(finished.status == 1)
        let databases = try #require(try object("metadata.json")["databases"] as? [String: [String: [String: Any]]])
        #expect(Array(databases.keys) == ["my.phone"])
        let tables = try #require(databases["my.phone"]?["tables"] as? [String: [String: Any]])
        let names = try query(
            folder("my.phone.sqlite"), "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name")
        #expect(tables.keys.sorted() == names.split(separator: "\n").map(String.init))
        #expect(
            tables["events_per_day"]?["description"] as? String
                == "A row for each day, system, name and label of events")
        let columns = tables.flatMap { name, table in
            (table["columns"] as? [String: String] ?? [:]).map { "\(name)|\($0)|\($1)" }
        }
        let expected = try query(
            folder("my.phone.sqlite"), #"SELECT "table", "column", meaning FROM columns"#)
        #expect(columns.sorted() == expected.split(separator: "\n").map(String.init).sorted())
        // An existing file is replaced only with --force, and other formats have no such file.
        #expect(try shell(#""$0" convert -q -o "$1" "${@:2}""#, [folder("b.sqlite")] + options).status == 73)
        #expect(try shell(#""$0" convert -q -o "$1" "${@:2}""#, [folder("b.csv")] + options).status == 64)
        #expect(try shell(#""$0" convert -q --force -o "$1" "${@:2}""#, [folder("b.sqlite")] + options).status == 1)
        #expect(try object("metadata.json")["databases"] as? [String: Any] != nil)
        #expect(folder.names == ["b.sqlite", "metadata.json", "my.phone.sqlite"])
    }

    @Test("No output remains after the disk is full", arguments: outputs)
    func fullDisk(name: String) throws {
        // Files are limited to 64 KiB, and the signal for that is ignored, so that writing fails as on a full disk.
        let load = try SharedCaptures.load(pings: 400)
        try folder.makeFolder("out")
        let script = #"trap '' XFSZ; ulimit -f 64; "$0" convert -q -o "$1" "$2"; s=$?; ls -A "$3"; exit $s"#
        let finished = try shell(script, [folder("out/\(name)"), load, folder("out")])
        #expect(finished.status == 74, "\(finished.errors)")
        #expect(finished.text == "")
        #expect(finished.errors.hasPrefix("pingferry: cannot "), "\(finished.errors)")
    }

    @Test("No output remains after a signal", arguments: ["out.sqlite", "out.csv"])
    func interruption(name: String) throws {
        let load = try SharedCaptures.load(pings: 3000)
        let partial = folder(".\(name).partial")
        let watched = name.hasSuffix(".csv") ? "\(partial)/events.csv" : partial
        let finished = try interruptedRun(
            ["convert", "--jobs", "1", load], writing: folder(name), by: SIGTERM, whenFileAt: watched, has: 4096)
        #expect(finished.status == 128 + SIGTERM)
        #expect(finished.errors == "pingferry: interrupted; nothing was written to \(folder(name))\n")
        #expect(folder.names == [])
    }

    @Test(
        "Journals of another database do not damage the new one",
        arguments: ["-journal", "-wal", "-shm"])
    func companions(suffix: String) throws {
        try folder.put("old", "out.sqlite\(suffix)")
        let refused = try pingferry("convert", "-q", "-o", folder("out.sqlite"), sample("webxr"))
        #expect(refused.status == 73)
        #expect(refused.errors.contains("out.sqlite\(suffix): belongs to another database"))
        #expect(folder.names == ["out.sqlite\(suffix)"])
        #expect(try pingferry("convert", "-q", "--force", "-o", folder("out.sqlite"), sample("webxr")).status == 0)
        #expect(folder.names == ["out.sqlite"])
    }

    @Test(
        "A misspelled extension is rejected",
        arguments: [("out.sqllite", ".sqlite"), ("out.cvs", ".csv"), ("out.ndjsn", ".ndjson"), ("a.b/out", "")])
    func misspelledExtension(name: String, meant: String) throws {
        try folder.makeFolder("a.b")
        let finished = try pingferry("convert", "-q", "-o", folder(name), sample("webxr"))
        #expect(finished.status == (meant.isEmpty ? 0 : 64))
        #expect(meant.isEmpty || finished.errors.contains("did you mean \(meant)?"))
        #expect(
            try pingferry("convert", "-q", "--force", "--to", "ndjson", "-o", folder(name), sample("webxr")).status == 0
        )
    }

    @Test func runAfterKilledRunSucceeds() throws {
        let load = try SharedCaptures.load(pings: 3000)
        _ = try interruptedRun(
            ["convert", load], writing: folder("out.csv"), by: SIGKILL,
            whenFileAt: folder(".out.csv.partial/events.csv"), has: 4096)
        #expect(folder.names == [".out.csv.partial"])
        for name in ["out.csv", "other.csv"] {
            #expect(try pingferry("convert", "-q", "-o", folder(name), load).status == 0)
        }
        #expect(folder.names == ["other.csv", "out.csv"])
        try tool("diff", "-r", folder("out.csv"), folder("other.csv"))
    }

    @Test func outputIsNeverReadAsInput() throws {
        let capture = try folder.copySample("webxr")
        #expect(try pingferry("convert", "-q", "-o", "\(capture)/tables.csv", capture).status == 0)
        let lines = try pingferry("convert", "-q", "-o", "-", capture).lines
        #expect(lines.count == 6)
    }
}
