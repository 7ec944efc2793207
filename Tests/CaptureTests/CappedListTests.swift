import Capture
import Testing

/// Tests of lists that keep only their first elements.
@Suite struct CappedListTests {
    @Test("The first elements are kept, and all are counted")
    func limit() {
        var few = CappedList<Int>(limit: 3)
        for number in 0..<10 { few.add(number, reason: number < 4 ? "P2 cut \(number)" : "link") }
        #expect(few.elements == [0, 1, 2])
        #expect(few.count == 10)
        #expect(few.omittedCount == 7)
        #expect(few.countsByCode == ["P2": 4, "link": 6])
    }

    @Test("Codes beyond the limit count as others, but known codes do not")
    func codeLimit() {
        var few = CappedList<Int>(codeLimit: 2)
        for code in ["a", "b", "c", "a x", "d", "b"] { few.add(0, reason: code) }
        #expect(few.countsByCode == ["a": 2, "b": 2, "other": 2])
        #expect(few.omittedCount == 0)
    }
}
