import Dispatch
import Synchronization

/// Hands changes from many tasks to storage in groups: what comes in while one group is being written makes up the next, so
/// that a hundred clients wait for one `fsync` together.
final class GroupCommit<Change: Sendable, Answer: Sendable>: Sendable {
    private struct Request {
        let change: Change
        let continuation: CheckedContinuation<Answer, any Error>
    }

    private struct State {
        var waiting: [Request] = []
        var isWriting = false
    }

    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "ledger")
    private let write: @Sendable ([Change]) throws -> [Answer]

    /// - Parameter write: makes a group durable and answers each of its changes, or throws and has changed nothing.
    init(write: @escaping @Sendable ([Change]) throws -> [Answer]) {
        self.write = write
    }

    /// Hands in a change; returns when it is on disk.
    /// - Throws: what writing its group threw.
    func commit(_ change: Change) async throws -> Answer {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting.append(Request(change: change, continuation: continuation))
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if isFirst { thread.async { self.writeAll() } }
        }
    }

    /// Waits until nothing is being written.
    func finish() {
        thread.sync {}
    }

    private func writeAll() {
        while let group = next() {
            do {
                let answers = try write(group.map(\.change))
                for (request, answer) in zip(group, answers) { request.continuation.resume(returning: answer) }
            } catch {
                for request in group { request.continuation.resume(throwing: error) }
            }
        }
    }

    private func next() -> [Request]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isWriting = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
