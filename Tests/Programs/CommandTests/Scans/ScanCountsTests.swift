import Testing

@testable import pingferry

@Suite struct ScanCountsTests {
    @Test("the counts of a row stay when other rows are counted in between")
    func severalRows() {
        var counts = ScanCounts(rows: 3)
        counts.count(.held(code: "delivered"), ofRow: 1)
        counts.count(.held(code: "schema"), ofRow: 1)
        counts.count(.held(code: "delivered"), ofRow: 0)
        counts.count(.held(code: "delivered"), ofRow: 1)
        counts.count(.event(meaning: nil), ofRow: 0)
        #expect(counts.counts(ofRow: 0) == [.held(code: "delivered"): 1, .event(meaning: nil): 1])
        #expect(counts.counts(ofRow: 1) == [.held(code: "delivered"): 2, .held(code: "schema"): 1])
        #expect(counts.counts(ofRow: 2) == [:])
    }

    @Test func valuesAreStoredOnce() {
        var values = NumberedValues<String>()
        #expect(["a", "b", "a", "c", "b"].map { values.number(of: $0) } == [0, 1, 0, 2, 1])
        #expect((0..<3).map { values[$0] } == ["a", "b", "c"])
    }
}
