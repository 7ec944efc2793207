import CLibrary
import Dispatch
import Synchronization

/// A limit for the number of jobs that run at the same time, shared by all stages of a command.
///
/// Tasks wait for a free slot without blocking a thread.
public final class JobLimit: Sendable {
    /// The maximum number of jobs.
    public let jobs: Int
    let state: Mutex<State>

    struct State {
        var freeSlots: Int
        var waitingTasks: [CheckedContinuation<Void, Never>] = []
    }

    /// Creates a limit of `jobs` jobs, but at least one.
    public init(jobs: Int) {
        self.jobs = max(1, jobs)
        state = Mutex(State(freeSlots: max(1, jobs)))
    }

    /// Returns a task that runs `body` as soon as a slot is free.
    public func start<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) -> Task<Output, any Error> {
        Task {
            await acquireSlot()
            defer { releaseSlot() }
            try Task.checkCancellation()
            return try body()
        }
    }

    private func acquireSlot() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.freeSlots == 0 else {
                    state.freeSlots -= 1
                    return true
                }
                state.waitingTasks.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func releaseSlot() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waitingTasks.isEmpty else { return state.waitingTasks.removeFirst() }
            state.freeSlots += 1
            return nil
        }
        next?.resume()
    }
}

extension JobLimit {
    /// Calls `work` for each number from 0 to `count - 1` and waits for all calls.
    ///
    /// The calls run on this thread, which already occupies a slot, and on one additional thread for each free slot.
    public func concurrentPerform(_ count: Int, _ work: @Sendable (Int) -> Void) {
        let others = acquireFreeSlots(upTo: count - 1)
        guard others > 0 else {
            for number in 0..<count { work(number) }
            return
        }
        defer { for _ in 0..<others { releaseSlot() } }
        let next = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: others + 1) { _ in
            while true {
                let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard number < count else { return }
                work(number)
            }
        }
    }

    /// Acquires at most `count` slots without waiting, and returns the number of acquired slots.
    private func acquireFreeSlots(upTo count: Int) -> Int {
        state.withLock { state in
            let acquired = max(0, min(state.freeSlots, count))
            state.freeSlots -= acquired
            return acquired
        }
    }
}

/// A queue of concurrent tasks that returns the results in the order in which the tasks were added.
public struct OrderedTasks<Output: Sendable>: ~Copyable {
    private let jobLimit: JobLimit
    private var tasks: [Task<Output, any Error>?] = []
    /// The index of the first task whose result was not returned yet.
    private var nextIndex = 0

    /// Creates an empty queue whose tasks share the slots of `limit`.
    public init(limit: JobLimit) {
        jobLimit = limit
    }

    deinit {
        for task in tasks { task?.cancel() }
    }

    /// Whether the queue has enough tasks to keep every slot of the limit busy while the caller handles a result.
    public var isFull: Bool { count >= 2 * jobLimit.jobs + 1 }

    /// The number of tasks whose results were not returned yet.
    public var count: Int { tasks.count - nextIndex }

    /// Adds a task, which starts as soon as a slot is free.
    public mutating func add(_ body: @escaping @Sendable () throws -> Output) {
        tasks.append(jobLimit.start(body))
    }

    /// Waits for the earliest remaining task and returns its result, or `nil` if there is none.
    ///
    /// - Throws: The error of that task.
    public mutating func next() async throws -> Output? {
        guard nextIndex < tasks.count, let task = tasks[nextIndex] else { return nil }
        tasks[nextIndex] = nil
        nextIndex += 1
        // Removing half of the elements at a time keeps the amortized cost constant.
        if nextIndex > tasks.count / 2 {
            tasks.removeFirst(nextIndex)
            nextIndex = 0
        }
        return try await task.value
    }
}

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

/// Detached threads for blocking work, which must not occupy the threads of the concurrency runtime.
public enum BackgroundThread {
    /// Starts a thread that runs `body`, and returns 0 or an `errno` code.
    public static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let work = Unmanaged.passRetained(Work(body: body))
        var attributes = pthread_attr_t()
        var code = pthread_attr_init(&attributes)
        if code == 0 { code = pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED)) }
        var thread = noThread
        if code == 0 { code = pthread_create(&thread, &attributes, { Work.run($0) }, work.toOpaque()) }
        pthread_attr_destroy(&attributes)
        if code != 0 { work.release() }
        return code
    }

    private final class Work: Sendable {
        private let body: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void) { self.body = body }

        static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
            return nil
        }
    }
}
