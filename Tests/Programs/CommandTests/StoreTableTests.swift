import Foundation
import TestSupport
import Testing

/// Compares the tables `stores` and `queues` with the output of `scan --json`.
@Suite struct StoreTableTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns the rows of a table, whose JSON columns are parsed.
    private func rows(of table: String, in database: String) throws -> [[String: Any]] {
        let script = """
            import json, sqlite3, sys
            connection = sqlite3.connect(sys.argv[1])
            connection.row_factory = sqlite3.Row
            rows = [dict(row) for row in connection.execute("SELECT * FROM %s ORDER BY n" % sys.argv[2])]
            for row in rows:
                for key in {"held", "types", "pending_events", "facts", "state"} & set(row):
                    row[key] = row[key] and json.loads(row[key])
            print(json.dumps(rows))
            """
        let output = try tool("python3", "-c", script, folder(database), table)
        return try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [[String: Any]])
    }

    /// Returns the values of rows as strings, so that they can be compared.
    private func texts(_ rows: [[String: Any]]) -> [[String: String]] {
        rows.map { row in
            row.mapValues { value in
                let isContainer = JSONSerialization.isValidJSONObject(value)
                guard isContainer else { return "\(value)" }
                let data = try? JSONSerialization.data(withJSONObject: value, options: .sortedKeys)
                return String(decoding: data ?? Data(), as: UTF8.self)
            }
        }
    }

    /// Returns the rows that the stores in the output of `scan --json` have in both tables.
    private func expectedRows(
        _ stores: [[String: Any]]
    ) -> (stores: [[String: Any]], queues: [[String: Any]]) {
        var queues: [[String: Any]] = []
        let rows = stores.enumerated().map { index, store -> [String: Any] in
            let app = store["app"] as? [String: Any] ?? [:]
            if let queue = store["queue"] {
                queues.append([
                    "capture": store["capture"] ?? "", "kind": store["kind"] ?? "", "n": queues.count + 1,
                    "path": store["path"] ?? "", "state": queue, "store": index + 1,
                ])
            }
            let facts = store["facts"] as? [Any] ?? []
            return [
                "app_id": app["id"] ?? NSNull(), "app_name": app["name"] ?? NSNull(),
                "app_version": app["version"] ?? NSNull(), "capture": store["capture"] ?? "",
                "facts": facts.isEmpty ? NSNull() as Any : facts, "held": store["held"] ?? "",
                "kind": store["kind"] ?? "",
                "n": index + 1, "path": store["path"] ?? "",
                "pending_events": store["pendingEvents"] ?? NSNull(),
                "problems": (store["problems"] as? [Any])?.count ?? -1,
                "quarantined": store["quarantineCount"] ?? -1, "records": store["records"] ?? -1,
                "types": store["types"] ?? "", "uploadable": store["uploadable"] ?? -1,
            ]
        }
        return (rows, queues)
    }

    private func compare(_ inputs: [String], _ options: [String] = []) throws -> (stores: Int, queues: Int) {
        let scanned = try RunningProgram([pingferryPath, "scan", "--json"] + inputs + options).finish()
        let stores = try #require(try scanned.json()["stores"] as? [[String: Any]])
        _ = try RunningProgram(
            [pingferryPath, "convert", "-q", "--force", "-o", folder("a.sqlite")] + inputs + options
        ).finish()
        let expected = expectedRows(stores)
        let columns = Set(expected.stores.first.map { Array($0.keys) } ?? [])
        let found = try rows(of: "stores", in: "a.sqlite")
        #expect(texts(found.map { $0.filter { columns.contains($0.key) } }) == texts(expected.stores))
        let queues = try rows(of: "queues", in: "a.sqlite")
        let queueColumns: Set = ["capture", "kind", "n", "path", "state", "store"]
        #expect(texts(queues.map { $0.filter { queueColumns.contains($0.key) } }) == texts(expected.queues))
        return (found.count, queues.count)
    }

    @Test func samplesHaveRowsOfScan() throws {
        let inputs = (samples + sampleLogs).map { sample($0) }
        let (stores, queues) = try compare(inputs)
        #expect(stores > 20)
        #expect(queues > 2)
        _ = try compare(inputs, ["--uploadable"])
        _ = try compare(inputs, ["--type", "core"])
    }

    @Test func bundleHasOneRow() throws {
        #expect(try pingferry("bundle", "-q", "-o", folder("a.tar.zst"), sample("damaged")).status == 1)
        #expect(try compare([folder("a.tar.zst")]) == (1, 0))
        let row = try #require(try rows(of: "stores", in: "a.sqlite").first)
        #expect(row["container"] is NSNull && row["system"] is NSNull)
        #expect(row["kind"] as? String == "bundle")
    }

    @Test("The columns that scan does not show are consistent")
    func otherColumns() throws {
        let inputs = samples.map { sample($0) }
        _ = try RunningProgram([pingferryPath, "convert", "-q", "-o", folder("a.sqlite")] + inputs).finish()
        let stores = try rows(of: "stores", in: "a.sqlite")
        let containers = Set(stores.compactMap { $0["container"] as? String })
        #expect(containers.contains("focus") && containers.contains("firefox/AppDomain-org.mozilla.ios.Firefox"))
        for queue in try rows(of: "queues", in: "a.sqlite") {
            let store = try #require(stores.first { $0["n"] as? Int == queue["store"] as? Int })
            #expect(queue["container"] as? String == store["container"] as? String)
            #expect(queue["system"] as? String == store["system"] as? String)
            #expect(["ready", "not-ready", "empty", "unknown"].contains(queue["readiness"] as? String))
            #expect((queue["sentence"] as? String)?.isEmpty == false)
            #expect((queue["at"] as? String ?? "").wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|/) != nil)
        }
    }

    @Test func tablesAreEmptyWithPseudonyms() throws {
        #expect(try pingferry("pseudonym-key", "-o", folder("key")).status == 0)
        _ = try pingferry(
            "convert", "-q", "--pseudonymize", folder("key"), "-o", folder("a.sqlite"), sample("focus"), sample("shop"))
        #expect(try rows(of: "stores", in: "a.sqlite").isEmpty)
        #expect(try rows(of: "queues", in: "a.sqlite").isEmpty)
    }
}
