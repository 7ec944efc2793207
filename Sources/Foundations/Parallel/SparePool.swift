import Synchronization

/// Things that are costly to make and serve one piece of work at a time: lent out, taken back, lent again.
public final class SparePool<Spare: AnyObject & Sendable>: Sendable {
    private let spares = Mutex<[Spare]>([])
    private let make: @Sendable () throws -> Spare

    /// Makes an empty pool.
    public init(_ make: @escaping @Sendable () throws -> Spare) {
        self.make = make
    }

    /// Lends a spare to a body.
    /// - Throws: what making one or the body throws; the spare is dropped then, for its state is unknown.
    public func withSpare<Output>(_ body: (Spare) throws -> Output) throws -> Output {
        let spare = try spares.withLock { $0.popLast() } ?? make()
        let output = try body(spare)
        spares.withLock { $0.append(spare) }
        return output
    }
}
