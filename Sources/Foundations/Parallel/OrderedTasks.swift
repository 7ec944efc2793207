/// A queue of concurrent tasks that returns the results in the order in which the tasks were added.
public struct OrderedTasks<Output: Sendable>: ~Copyable {
    private let limit: JobLimit
    private var tasks: [Task<Output, any Error>?] = []
    /// The index of the first task whose result was not returned yet.
    private var first = 0

    /// Creates an empty queue whose tasks share the slots of `limit`.
    public init(limit: JobLimit) {
        self.limit = limit
    }

    deinit {
        for task in tasks { task?.cancel() }
    }

    /// Whether the queue has enough tasks to keep every slot of the limit busy while the caller handles a result.
    public var isFull: Bool { count >= 2 * limit.jobs + 1 }

    /// The number of tasks whose results were not returned yet.
    public var count: Int { tasks.count - first }

    /// Adds a task, which starts as soon as a slot is free.
    public mutating func add(_ body: @escaping @Sendable () throws -> Output) {
        tasks.append(limit.start(body))
    }

    /// Waits for the earliest remaining task and returns its result, or `nil` if there is none.
    ///
    /// - Throws: The error of that task.
    public mutating func next() async throws -> Output? {
        guard first < tasks.count, let task = tasks[first] else { return nil }
        tasks[first] = nil
        first += 1
        // Removing half of the elements at a time keeps the amortized cost constant.
        if first > tasks.count / 2 {
            tasks.removeFirst(first)
            first = 0
        }
        return try await task.value
    }
}
