import Foundation
import TestSupport
import Testing

/// Tests that DuckDB reads the outputs of `convert`.
///
/// The tests run if the Python of `.venv` or of the system has the module duckdb. `make check` installs it in `.venv`.
@Suite(.enabled(if: pythonWithDuckDB != nil, "Python has no module duckdb, which make check installs"))
struct DuckDBTests {
    /// A program that runs a statement on the file `records.ndjson` and prints the rows as JSON.
    private static let program = """
        import duckdb, json, os, sys
        os.chdir(sys.argv[1])
        rows = duckdb.sql(sys.argv[2]).fetchall()
        print(json.dumps([[str(value) if value is not None else None for value in row] for row in rows]))
        """

    private func rows(of statement: String, in folder: TemporaryFolder) throws -> [[String?]] {
        let output = try tool([pythonWithDuckDB ?? "", "-c", Self.program, folder.path, statement])
        return try JSONDecoder().decode([[String?]].self, from: output)
    }

    /// A program that runs the script `load.sql` in a folder, and compares the tables with those in a database.
    ///
    /// It prints the number of rows of each table, and each difference.
    private static let comparison = """
        import duckdb, os, sqlite3, sys
        stored, loaded = sqlite3.connect(sys.argv[1]), duckdb.connect()
        os.chdir(sys.argv[2])
        loaded.execute(open("load.sql", encoding="utf-8").read())
        types = {"INTEGER": "BIGINT", "INTEGER, 0 or 1": "BOOLEAN", "REAL": "DOUBLE", "TEXT": "VARCHAR", "TEXT, JSON": "JSON"}
        names = [row[0] for row in stored.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
        found = [row[0] for row in loaded.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
        if found != names: print("tables", found, names)
        for name in names:
            described = loaded.execute('DESCRIBE "%s"' % name).fetchall()
            stated = stored.execute('SELECT "column", type FROM columns WHERE "table" = ?', [name]).fetchall()
            stated = {column: types[kind.removesuffix(" or NULL")] for column, kind in stated}
            for column, kind, *_ in described:
                if kind.replace("TIMESTAMP", "VARCHAR") != stated.pop(column, None): print(name, column, kind)
            if stated: print(name, stated)
            texts = ["strftime(\\"%s\\", '%%Y-%%m-%%dT%%H:%%M:%%S.%%gZ')" % column if kind == "TIMESTAMP"
                     else '"%s"::VARCHAR' % column if kind == "JSON" else '"%s"' % column for column, kind, *_ in described]
            keys = [row[1] for row in stored.execute('PRAGMA table_info("%s")' % name) if row[5]]
            order = " ORDER BY " + ", ".join('"%s"' % key for key in keys)
            rows = loaded.execute('SELECT %s FROM "%s"%s' % (", ".join(texts), name, order)).fetchall()
            expected = stored.execute('SELECT * FROM "%s"%s' % (name, order)).fetchall()
            print(name, len(rows))
            if len(rows) != len(expected): print(name, "expected", len(expected))
            for row, other in zip(rows, expected):
                if row != other: print(name, row, other)
        for name in [row[0] for row in stored.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]:
            rows, expected = (sorted(database.execute('SELECT * FROM "%s"' % name).fetchall(), key=str) for database in (loaded, stored))
            print(name, len(rows))
            if [row[:-1] for row in rows] != [row[:-1] for row in expected]: print(name, "differs")
            if any(abs(float(row[-1]) - float(other[-1])) > 1e-9 for row, other in zip(rows, expected)): print(name, "differs")
        comments = dict(loaded.execute("SELECT table_name || '.' || column_name, comment FROM duckdb_columns() WHERE comment IS NOT NULL").fetchall())
        if comments != dict(stored.execute('SELECT "table" || char(46) || "column", meaning FROM columns').fetchall()): print("comments differ")
        print(loaded.execute("SELECT string_agg(DISTINCT app_version, ' ' ORDER BY app_version) FROM records").fetchone()[0])
        folder = [name for name in os.listdir(".") if name.endswith(".parquet")]
        for name in folder:
            table = name.removesuffix(".parquet")
            if loaded.execute('DESCRIBE "%s"' % table).fetchall() != loaded.execute("DESCRIBE SELECT * FROM '%s'" % name).fetchall(): print(table, "has other types")
        print(loaded.execute("SELECT typeof(time), typeof(payload) FROM records LIMIT 1").fetchone())
        """

    @Test("The script of a CSV or Parquet folder loads the values and the views of the SQLite database")
    func loadScriptLoadsAllValues() throws {
        let folder = try TemporaryFolder()
        for (number, version) in ["8.1", "8.10", "8.100"].enumerated() {
            let id = "0C5A3B52-6E0B-4C8D-9F53-00000000000\(number)"
            let locale = ["", "=1+1", "a,\\\"b\\\"\\n\\r\\nc"][number]
            try folder.put(
                #"""
                {"timestamp":\#(number + 1)527163208.5,"documentId":"\#(id)","pingType":"core","measurements":{"arch":"arm64",\#
                "clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","device":"\#(locale)","locale":"\#(locale)",\#
                "os":"iOS","osversion":"1e5","seq":\#(number + 1),"v":7},\#
                "uploadPath":"/submit/telemetry/\#(id)/core/Focus/\#(version)/release/2?v=4"}
                """#, "made/Documents/MozTelemetry-Default-core/-t-\(number).json")
        }
        let inputs = (samples + sampleLogs).map { sample($0) } + [folder("made")]
        for name in ["a.sqlite", "a.csv", "a.parquet"] {
            let finished = try RunningProgram([pingferryPath, "convert", "-q", "-o", folder(name)] + inputs).finish()
            #expect(finished.status == 1, "\(finished.errors)")
        }
        for name in ["a.csv", "a.parquet"] {
            let output = try tool([pythonWithDuckDB ?? "", "-c", Self.comparison, folder("a.sqlite"), folder(name)])
            let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
            let counts = lines.dropLast(2)
            #expect(counts.allSatisfy { $0.wholeMatch(of: /[a-z_]+ \d+/) != nil }, "\(counts)")
            // There are 20 tables and 5 views.
            #expect(counts.contains { $0.hasPrefix("records ") } && counts.count == 25)
            let versions = try #require(lines.dropLast().last).split(separator: " ")
            #expect(Set(versions).isSuperset(of: ["8.1", "8.10", "8.100"]), "\(versions)")
            #expect(lines.last == "('TIMESTAMP', 'JSON')")
        }
    }

    @Test("The script of a CSV folder for spreadsheets skips the byte order mark")
    func spreadsheetIsLoaded() throws {
        let folder = try TemporaryFolder()
        let finished = try pingferry("convert", "-q", "--spreadsheet", "-o", folder("a.csv"), sample("webxr"))
        #expect(finished.status == 0)
        let script = """
            import duckdb, os, sys
            os.chdir(sys.argv[1])
            base = duckdb.connect()
            base.execute(open("load.sql", encoding="utf-8").read())
            print(base.execute("SELECT count(record), min(record), typeof(any_value(time)) FROM records").fetchone())
            """
        let output = try tool([pythonWithDuckDB ?? "", "-c", script, folder("a.csv")])
        #expect(String(decoding: output, as: UTF8.self) == "(6, 1, 'TIMESTAMP')\n")
    }

    @Test func readmeStatementReadsSamples() throws {
        let folder = try TemporaryFolder()
        let captures = samples.map { sample($0) }
        _ = try shell(#""$0" convert -q -o "$@""#, [folder("records.ndjson")] + captures)
        let readme = try String(contentsOfFile: "\(repository)/README.md", encoding: .utf8)
        let statement = readme.components(separatedBy: "```sql\n")[1].components(separatedBy: "```")[0]
        let found = try rows(of: statement, in: folder)
        let help = try pingferry("convert", "--help").text
        #expect(help.contains("columns = {type: 'VARCHAR', \"time\": 'TIMESTAMP', payload: 'JSON'}"))

        // The expected values are determined from the records.
        var expected: [[String?]] = []
        for line in try folder.text("records.ndjson").split(separator: "\n") {
            let record = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let payload = try #require(record["payload"] as? [String: Any])
            guard record["type"] as? String == "core" else { continue }
            expected.append([
                payload["locale"] as? String, (payload["searches"] as? [String: Int])?.keys.sorted().joined(),
            ])
        }
        let shown = found.map { row in
            let searches = row[2].flatMap { try? JSONDecoder().decode([String: Int].self, from: Data($0.utf8)) }
            return [row[1], searches?.keys.sorted().joined()]
        }
        #expect(shown.count == expected.count)
        #expect(Set(shown) == Set(expected))
        #expect(found.map { $0[0] ?? "" } == found.map { $0[0] ?? "" }.sorted())
        let names = expected.compactMap { $0[1] }
        #expect(
            names.contains { $0.contains("actionbar.google") } && names.contains { $0.contains("actionbar.Google") })
    }
}

/// The path of a Python with the module duckdb, or `nil` if there is none.
private let pythonWithDuckDB = ["\(repository)/.venv/bin/python", "python3"].first { python in
    let finished = try? RunningProgram([python, "-c", "import duckdb"]).finish()
    return finished?.status == 0
}
