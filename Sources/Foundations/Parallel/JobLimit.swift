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

    func releaseSlot() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waitingTasks.isEmpty else { return state.waitingTasks.removeFirst() }
            state.freeSlots += 1
            return nil
        }
        next?.resume()
    }
}
