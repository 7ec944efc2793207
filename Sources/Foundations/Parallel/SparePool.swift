import Synchronization

/// A pool of values that are costly to create, such as encoders and buffers. One thread at a time uses a value.
public final class SparePool<Spare: Sendable, Failure: Error>: Sendable {
    private let spares = Mutex<[Spare]>([])
    private let make: @Sendable () throws(Failure) -> Spare
    private let limit: Int

    /// Creates an empty pool.
    /// - Parameters:
    ///   - limit: The maximum number of unused values that the pool keeps.
    ///   - make: Creates a value. It is called when the pool is empty.
    public init(keeping limit: Int = .max, _ make: @escaping @Sendable () throws(Failure) -> Spare) {
        self.make = make
        self.limit = limit
    }

    /// Calls `body` with a value from the pool, and returns the value to the pool afterwards.
    /// - Throws: The error of the creation of a value, or of `body`. If `body` throws, the value is discarded, because its state
    ///   is unknown.
    public func withSpare<Output>(_ body: (inout Spare) throws(Failure) -> Output) throws(Failure) -> Output {
        var spare = try take()
        let output = try body(&spare)
        giveBack(spare)
        return output
    }

    /// Removes a value from the pool and returns it. Creates a value if the pool is empty.
    /// - Throws: The error of the creation.
    public func take() throws(Failure) -> Spare {
        if let spare = spares.withLock({ $0.popLast() }) { return spare }
        return try make()
    }

    /// Adds a value to the pool.
    public func giveBack(_ spare: Spare) {
        spares.withLock { spares in
            if spares.count < limit { spares.append(spare) }
        }
    }
}
