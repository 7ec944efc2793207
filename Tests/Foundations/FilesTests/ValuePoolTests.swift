import Files
import Testing

@Suite struct SparePoolTests {
    private final class Spare: Sendable {}
    private struct Failed: Error {}

    @Test("a returned value is reused, and no value is in use twice")
    func reuse() {
        let pool = ValuePool<Spare, Never> { Spare() }
        let (first, second) = (pool.take(), pool.take())
        #expect(first !== second)
        pool.recycle(first)
        #expect(pool.take() === first)
        #expect(pool.take() !== first)
    }

    @Test("the pool keeps at most the given number of unused values")
    func limit() {
        let pool = ValuePool<Spare, Never>(keeping: 1) { Spare() }
        let (first, second) = (pool.take(), pool.take())
        pool.recycle(first)
        pool.recycle(second)
        let (third, fourth) = (pool.take(), pool.take())
        #expect(third === first)
        #expect(fourth !== second)
    }

    @Test("a value is discarded if its use fails")
    func failure() throws {
        let pool = ValuePool<Spare, any Error> { Spare() }
        var used: [Spare] = []
        #expect(throws: Failed.self) {
            try pool.withPooledValue { spare in
                used.append(spare)
                throw Failed()
            }
        }
        try pool.withPooledValue { used.append($0) }
        try pool.withPooledValue { used.append($0) }
        #expect(used[1] !== used[0])
        #expect(used[2] === used[1])
    }

    @Test("changes to a value are kept")
    func changes() throws {
        let pool = ValuePool<[Int], any Error> { [] }
        try pool.withPooledValue { $0.append(1) }
        try pool.withPooledValue { $0.append(2) }
        #expect(try pool.take() == [1, 2])
        #expect(try pool.take() == [])
    }

    @Test("an error in the creation of a value is thrown")
    func creationFailure() {
        let pool = ValuePool<Spare, Failed> { () throws(Failed) in throw Failed() }
        #expect(throws: Failed.self) { try pool.take() }
    }
}
