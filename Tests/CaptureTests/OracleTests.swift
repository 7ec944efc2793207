import JSONText
import Telemetry
import Testing

/// Compares every case with its oracle, which does not decode stores.
@Suite struct OracleTests {
    /// The codes of notes that readers may omit.
    private static let optionalNotes: Set = ["E15", "no-target"]

    @Test("A capture yields the results that its oracle lists", arguments: try Fixtures.cases)
    func matches(fixture: FixtureCase) async throws {
        let oracle = try Oracle(fixture)
        let found = try await ReadCapture(path: fixture.path)

        #expect(found.records.count == oracle.records.count)
        for (index, (record, expected)) in zip(found.records, oracle.records).enumerated() {
            var line: [UInt8] = []
            record.write(to: &line)
            let document = try JSONDocument(line)
            #expect(document.count(of: document.root) == 11)
            for (key, text) in expected.texts {
                #expect(Oracle.text(of: key, in: document) == text, "record \(index), \(key)")
            }
            #expect(record.app.map { Oracle.text(of: $0) } ?? "null" == expected.app, "record \(index), app")
            #expect(record.held.map(\.code) == expected.held, "record \(index), held")
            let codes = Set(record.notes.map(\.code))
            #expect(
                codes.subtracting(Self.optionalNotes) == Set(expected.notes), "record \(index), notes \(record.notes)")
        }
        #expect(found.duplicates == oracle.duplicates)
        #expect(found.problems.map { "\($0.path) \($0.problem.code)" }.sorted() == oracle.problems.sorted())
        #expect(found.problems.allSatisfy { $0.capture == fixture.name })
    }

    @Test("The quarantine contains the spans that the oracle lists", arguments: try Fixtures.cases)
    func quarantine(fixture: FixtureCase) async throws {
        try await Oracle.checkQuarantine(of: fixture)
    }

    @Test(
        "One job yields the same bytes as several jobs",
        arguments: ["focus-leftovers", "s1-arrays", "pending-1203", "p05-envelope-key"])
    func jobs(name: String) async throws {
        let path = try Fixtures.named(name).path
        let one = try await ReadCapture(path: path, jobs: 1)
        let many = try await ReadCapture(path: path, jobs: 8)
        #expect(one.lines.count > 0)
        #expect(one.lines == many.lines)
        #expect(one.quarantined == many.quarantined)
        #expect(one.problems == many.problems)
        #expect(one.bytesRead == many.bytesRead)
    }
}
