import Bundle
import Testing

@Suite struct NumberedValuesTests {
    @Test("A value is stored once")
    func numbers() {
        var values = NumberedValues<String>()
        #expect(["a", "b", "a", "c", "b"].map { values.number(of: $0) } == [0, 1, 0, 2, 1])
        #expect((0..<3).map { values[$0] } == ["a", "b", "c"])
    }

    @Test("A new value beyond the limit is not stored")
    func limit() {
        var values = NumberedValues("a")
        #expect(["b", "c", "a", "b"].map { values.number(of: $0, limit: 2) } == [1, nil, 0, 1])
    }
}
