import Testing

@testable import pingferry

@Suite struct ScanCountsTests {
    @Test("The counts of a row remain when other rows are counted in between")
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
}
