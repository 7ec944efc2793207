import Parallel
import Testing

@Suite struct SparePoolTests {
    private final class Spare: Sendable {}
    private struct Failed: Error {}

    @Test("what was given back is lent again, and nothing is lent twice")
    func lending() {
        let pool = SparePool<Spare, Never> { Spare() }
        let (first, second) = (pool.take(), pool.take())
        #expect(first !== second)
        pool.giveBack(first)
        #expect(pool.take() === first)
        #expect(pool.take() !== first)
    }

    @Test("no more than asked for are kept")
    func limit() {
        let pool = SparePool<Spare, Never>(keeping: 1) { Spare() }
        let (first, second) = (pool.take(), pool.take())
        pool.giveBack(first)
        pool.giveBack(second)
        let (third, fourth) = (pool.take(), pool.take())
        #expect(third === first)
        #expect(fourth !== second)
    }

    @Test("one that a failed piece of work had is dropped")
    func failure() throws {
        let pool = SparePool<Spare, any Error> { Spare() }
        var used: [Spare] = []
        #expect(throws: Failed.self) {
            try pool.withSpare { spare in
                used.append(spare)
                throw Failed()
            }
        }
        try pool.withSpare { used.append($0) }
        try pool.withSpare { used.append($0) }
        #expect(used[1] !== used[0])
        #expect(used[2] === used[1])
    }

    @Test("a value comes back as a piece of work has left it")
    func values() throws {
        let pool = SparePool<[Int], any Error> { [] }
        try pool.withSpare { $0.append(1) }
        try pool.withSpare { $0.append(2) }
        #expect(try pool.take() == [1, 2])
        #expect(try pool.take() == [])
    }

    @Test("what making one throws is thrown")
    func making() {
        let pool = SparePool<Spare, Failed> { () throws(Failed) in throw Failed() }
        #expect(throws: Failed.self) { try pool.take() }
    }
}
