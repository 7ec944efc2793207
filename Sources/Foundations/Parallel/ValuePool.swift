import Synchronization

/// A pool of values that are expensive to create, such as encoders and buffers.
///
/// Only one thread at a time uses a value.
public final class ValuePool<Value: Sendable, Failure: Error>: Sendable {
    private let unusedValues = Mutex<[Value]>([])
    private let makeValue: @Sendable () throws(Failure) -> Value
    private let maximumUnusedCount: Int

    /// Creates an empty pool.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of unused values that the pool keeps.
    ///   - make: Creates a value. It is called when the pool is empty.
    public init(keeping limit: Int = .max, _ make: @escaping @Sendable () throws(Failure) -> Value) {
        makeValue = make
        maximumUnusedCount = limit
    }

    /// Calls `body` with a value from the pool, and returns the value to the pool afterwards.
    ///
    /// If `body` throws an error, the value is discarded, because its state is unknown.
    public func withPooledValue<Output>(_ body: (inout Value) throws(Failure) -> Output) throws(Failure) -> Output {
        var value = try take()
        let output = try body(&value)
        recycle(value)
        return output
    }

    /// Removes and returns a value from the pool, or creates one if the pool is empty.
    public func take() throws(Failure) -> Value {
        if let value = unusedValues.withLock({ $0.popLast() }) { return value }
        return try makeValue()
    }

    /// Returns a value to the pool, or discards the value if the pool is full.
    public func recycle(_ value: Value) {
        unusedValues.withLock { unusedValues in
            if unusedValues.count < maximumUnusedCount { unusedValues.append(value) }
        }
    }
}
