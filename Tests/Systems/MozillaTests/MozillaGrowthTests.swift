import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests that the findings about a ping are limited, even if it has any number of unusual members.
@Suite struct MozillaGrowthTests {
    private func record(_ fields: [String: String]) throws -> Record {
        let text = StoredJSON.envelope("core", StoredJSON.measurements("core", fields))
        return try #require(readPingFile(text).records.first)
    }

    @Test("C8: Null members are removed together, and their notes are limited", arguments: [1, 99, 100, 101, 60_000])
    func nullMembers(count: Int) throws {
        let members = (0..<count).map { "\"e.\($0)\":null" }.joined(separator: ",")
        let record = try record(["searches": "{\(members),\"a.b\":3}"])
        #expect(String(decoding: record.payload, as: UTF8.self).contains(#""searches":{"a.b":3}"#))
        let notes = record.notes.filter { $0.hasPrefix("C8 ") }
        #expect(notes.count == min(count, 101))
        if count > 100 { #expect(notes.last == "C8 \(count - 100) more notes") }
    }

    @Test("Notes beyond the limit are counted by their case ids")
    func furtherNotes() {
        var findings = Findings()
        for number in 0..<150 { findings.note("C1 x\(number)") }
        for number in 0..<3 { findings.note("P2@\(number)") }
        findings.note("C1 y")
        #expect(findings.notes.count == 102)
        #expect(findings.notes.suffix(2) == ["C1 51 more notes", "P2 3 more notes"])
        for number in 0..<1000 { findings.note("X\(number) z") }
        #expect(findings.notes.count == 164)
    }
}
