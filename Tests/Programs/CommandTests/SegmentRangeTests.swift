import Testing

@testable import pingferry

@Suite struct SegmentRangeTests {
    @Test(
        "Valid ranges are parsed",
        arguments: [
            ("1", 1, 1), ("2-5", 2, 5), ("3-3", 3, 3), ("2-", 2, nil), ("000007-8", 7, 8),
        ] as [(String, Int, Int?)])
    func read(text: String, first: Int, last: Int?) throws {
        let range = try #require(SegmentRange(argument: text))
        #expect(range.first == first && range.last == last)
    }

    @Test(
        "Invalid ranges are rejected",
        arguments: [
            "", "0", "-", "-3", "2-1", "0-1", "1-0", "a", "1-a", "1-2-3", "+1", " 1", "1..2", "1,2", "٣", "1–2",
            "99999999999999999999",
        ])
    func invalid(text: String) {
        #expect(SegmentRange(argument: text) == nil)
    }

    @Test(
        "The indices are returned if the bundle has all segments",
        arguments: [
            ("1", 3, 0..<1), ("3", 3, 2..<3), ("1-3", 3, 0..<3), ("2-", 3, 1..<3), ("3-", 3, 2..<3), ("4", 3, nil),
            ("4-", 3, nil), ("2-4", 3, nil), ("1-", 0, nil), ("1", 0, nil),
        ] as [(String, Int, Range<Int>?)])
    func indices(text: String, count: Int, indices: Range<Int>?) throws {
        #expect(try #require(SegmentRange(argument: text)).indices(ofSegments: count) == indices)
    }
}
