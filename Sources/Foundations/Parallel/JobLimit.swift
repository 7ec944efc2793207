import Synchronization

/// How many jobs may run at once, shared by all stages of a command.
///
/// Tasks wait for a free place without occupying a thread.
public final class JobLimit: Sendable {
    /// The number of places.
    public let jobs: Int
    let state: Mutex<State>

    struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// Makes a limit of at least one job.
    public init(jobs: Int) {
        self.jobs = max(1, jobs)
        state = Mutex(State(free: max(1, jobs)))
    }

    /// Gives out a piece of work, which begins as soon as there is a place for it.
    public func start<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) -> Task<Output, any Error> {
        Task {
            await enter()
            defer { leave() }
            try Task.checkCancellation()
            return try body()
        }
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.free == 0 else {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }
}
