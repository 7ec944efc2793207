import Testing

@testable import Bundle

@Suite struct TallyTests {
    private func tally(_ keys: String...) -> Tally<String> {
        var tally = Tally<String>()
        for key in keys { tally.add(key) }
        return tally
    }

    @Test("A new tally has no counts")
    func new() {
        #expect(Tally<String>().counts == [:])
        #expect(Tally<String>() == Tally<String>())
    }

    @Test(
        "Keys are counted in any order",
        arguments: [
            ([], [:]), (["a"], ["a": 1]), (["a", "a"], ["a": 2]), (["a", "b", "a"], ["a": 2, "b": 1]),
            (["b", "a", "b", "c", "c", "b"], ["a": 1, "b": 3, "c": 2]), (["", "", "a"], ["": 2, "a": 1]),
        ] as [([String], [String: Int])])
    func counts(keys: [String], counts: [String: Int]) {
        var tally = Tally<String>()
        for key in keys { tally.add(key) }
        #expect(tally.counts == counts)
    }

    @Test("Several occurrences or none can be added at once")
    func several() {
        var tally = tally("a")
        tally.add("a", 4)
        tally.add("b", 2)
        tally.add("c", 0)
        #expect(tally.counts == ["a": 5, "b": 2, "c": 0])
    }

    @Test("Tallies with common and distinct keys can be added")
    func sums() {
        var sum = tally("a", "b")
        sum.add(tally("b", "c", "c"))
        #expect(sum.counts == ["a": 1, "b": 2, "c": 2])
        sum.add(Tally())
        #expect(sum.counts == ["a": 1, "b": 2, "c": 2])
        var empty = Tally<String>()
        empty.add(sum)
        #expect(empty == sum)
        // The last key can be counted again.
        empty.add("c")
        empty.add("a")
        #expect(empty.counts == ["a": 2, "b": 2, "c": 3])
    }

    @Test("A copy is independent of the original")
    func copy() {
        let before = tally("a", "b")
        var after = before
        after.add("b")
        #expect(before.counts == ["a": 1, "b": 1])
        #expect(after.counts == ["a": 1, "b": 2])
    }

    @Test("Equality does not depend on the order of keys")
    func equality() {
        #expect(tally("a", "b", "a") == tally("b", "a", "a"))
        #expect(tally("a", "b") != tally("a", "b", "b"))
        #expect(tally("a") != tally("b"))
        #expect(tally("a") != tally())
    }

    @Test("The counts of many keys equal those of a dictionary")
    func many() {
        var tally = Tally<Int>()
        var expected: [Int: Int] = [:]
        for number in 0..<5000 {
            let key = number * number % 97
            tally.add(key)
            expected[key, default: 0] += 1
        }
        #expect(tally.counts == expected)
    }
}
