/// Work that is done in parallel and whose results are taken in the order in which it was given out.
public struct OrderedTasks<Output: Sendable>: ~Copyable {
    private let limit: JobLimit
    private var tasks: [Task<Output, any Error>?] = []
    /// The place of the first task whose result was not taken.
    private var first = 0

    /// Makes an empty queue whose work shares the places of a limit.
    public init(limit: JobLimit) {
        self.limit = limit
    }

    deinit {
        for task in tasks { task?.cancel() }
    }

    /// Whether there is work for every place of the limit, now and when it is free again, while a result is taken.
    public var isFull: Bool { count >= 2 * limit.jobs + 1 }

    /// How many results have not been taken.
    public var count: Int { tasks.count - first }

    /// Gives out a piece of work.
    public mutating func add(_ body: @escaping @Sendable () throws -> Output) {
        tasks.append(limit.start(body))
    }

    /// Waits for the next result, in order.
    /// - Returns: nil if nothing is given out.
    /// - Throws: what the piece of work threw.
    public mutating func next() async throws -> Output? {
        guard first < tasks.count, let task = tasks[first] else { return nil }
        tasks[first] = nil
        first += 1
        // Moved up seldom enough that each costs a step or two, however many there are.
        if first > tasks.count / 2 {
            tasks.removeFirst(first)
            first = 0
        }
        return try await task.value
    }
}
