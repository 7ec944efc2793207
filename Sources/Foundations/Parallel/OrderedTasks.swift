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
