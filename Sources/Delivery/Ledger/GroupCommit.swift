import Dispatch
import Synchronization

/// Hands changes from many tasks to storage in groups: what comes in while one group is being written makes up the next, so
/// that a hundred clients wait for one `fsync` together.
final class GroupCommit<Change: Sendable, Result: Sendable>: Sendable {
    private struct Request {
        let change: Change
        let continuation: CheckedContinuation<Result, any Error>
    }

    private struct State {
        var waiting: [Request] = []
        var isWriting = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "ledger")
    private let write: @Sendable ([Change]) throws -> [Result]

    /// - Parameter write: makes a group durable and results each of its changes, or throws and has changed nothing.
    init(write: @escaping @Sendable ([Change]) throws -> [Result]) {
        self.write = write
    }

    /// Hands in a change; returns when it is on disk.
    /// - Throws: what writing its group threw.
    func commit(_ change: Change) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting.append(Request(change: change, continuation: continuation))
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if isFirst { queue.async { self.writeGroups() } }
        }
    }

    /// Waits until nothing is being written.
    func finish() {
        queue.sync {}
    }

    private func writeGroups() {
        while let group = nextGroup() {
            do {
                let results = try write(group.map(\.change))
                for (request, result) in zip(group, results) { request.continuation.resume(returning: result) }
            } catch {
                for request in group { request.continuation.resume(throwing: error) }
            }
        }
    }

    private func nextGroup() -> [Request]? {
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
