import Synchronization

/// Things that are costly to make and serve one piece of work at a time: lent out, taken back, lent again.
public final class SparePool<Spare: Sendable, Failure: Error>: Sendable {
    private let spares = Mutex<[Spare]>([])
    private let make: @Sendable () throws(Failure) -> Spare
    private let most: Int

    /// Makes an empty pool.
    /// - Parameter most: how many are kept while nobody has them; others are let go of.
    public init(keeping most: Int = .max, _ make: @escaping @Sendable () throws(Failure) -> Spare) {
        self.make = make
        self.most = most
    }

    /// Lends a spare to a body.
    /// - Throws: what making one or the body throws; the spare is dropped then, for its state is unknown.
    public func withSpare<Output>(_ body: (inout Spare) throws -> Output) throws -> Output {
        var spare = try take()
        let output = try body(&spare)
        giveBack(spare)
        return output
    }

    /// Lends a spare until it is given back; one that never is, is made anew.
    /// - Throws: what making one throws.
    public func take() throws(Failure) -> Spare {
        if let spare = spares.withLock({ $0.popLast() }) { return spare }
        return try make()
    }

    /// Takes a spare back.
    public func giveBack(_ spare: Spare) {
        spares.withLock { spares in
            if spares.count < most { spares.append(spare) }
        }
    }
}
