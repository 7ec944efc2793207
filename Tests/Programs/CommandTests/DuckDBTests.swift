import Foundation
import TestSupport
import Testing

/// Tests that the DuckDB statement in the README reads all records of the samples.
///
/// The tests run if the Python of `.venv` or of the system has the module duckdb.
@Suite(.enabled(if: pythonWithDuckDB != nil, "Python has no duckdb"))
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
