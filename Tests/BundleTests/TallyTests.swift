import Testing

@testable import Bundle

@Suite struct TallyTests {
    private func tally(_ keys: String...) -> Tally<String> {
        var tally = Tally<String>()
        for key in keys { tally.add(key) }
        return tally
    }

    @Test("nothing was counted at first")
    func new() {
        #expect(Tally<String>().counts == [:])
        #expect(Tally<String>() == Tally<String>())
    }

    @Test(
        "keys are counted in whatever order they come",
        arguments: [
            ([], [:]), (["a"], ["a": 1]), (["a", "a"], ["a": 2]), (["a", "b", "a"], ["a": 2, "b": 1]),
            (["b", "a", "b", "c", "c", "b"], ["a": 1, "b": 3, "c": 2]), (["", "", "a"], ["": 2, "a": 1]),
        ] as [([String], [String: Int])])
    func counts(keys: [String], counts: [String: Int]) {
        var tally = Tally<String>()
        for key in keys { tally.add(key) }
        #expect(tally.counts == counts)
    }

    @Test("several are counted at once, and none is a count too")
    func several() {
        var tally = tally("a")
        tally.add("a", 4)
        tally.add("b", 2)
        tally.add("c", 0)
        #expect(tally.counts == ["a": 5, "b": 2, "c": 0])
    }

    @Test("tallies are added, with keys of both or of one")
    func sums() {
        var sum = tally("a", "b")
        sum.add(tally("b", "c", "c"))
        #expect(sum.counts == ["a": 1, "b": 2, "c": 2])
        sum.add(Tally())
        #expect(sum.counts == ["a": 1, "b": 2, "c": 2])
        var empty = Tally<String>()
        empty.add(sum)
        #expect(empty == sum)
        // The key that was counted last is known still.
        empty.add("c")
        empty.add("a")
        #expect(empty.counts == ["a": 2, "b": 2, "c": 3])
    }

    @Test("a copy counts for itself")
    func copy() {
        let before = tally("a", "b")
        var after = before
        after.add("b")
        #expect(before.counts == ["a": 1, "b": 1])
        #expect(after.counts == ["a": 1, "b": 2])
    }

    @Test("the order in which keys came makes no difference")
    func equality() {
        #expect(tally("a", "b", "a") == tally("b", "a", "a"))
        #expect(tally("a", "b") != tally("a", "b", "b"))
        #expect(tally("a") != tally("b"))
        #expect(tally("a") != tally())
    }

    @Test("many keys are counted as a dictionary counts them")
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
