import Dispatch
import Synchronization

/// A queue that combines the changes of concurrent tasks into groups that are written together.
///
/// Changes that arrive while one group is being written form the next group, so that many clients share one `fsync`.
final class GroupCommit<Change: Sendable, Result: Sendable>: Sendable {
    private struct Request {
        let change: Change
        let continuation: CheckedContinuation<Result, any Error>
    }

    private struct State {
        var waitingRequests: [Request] = []
        var isWriting = false
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "ledger")
    private let write: @Sendable ([Change]) throws -> [Result]

    /// Creates a group commit that stores each group by calling `write`.
    ///
    /// `write` must store the whole group durably, or throw an error without storing any of its changes.
    init(write: @escaping @Sendable ([Change]) throws -> [Result]) { self.write = write }

    /// Submits a change and waits until it is durable.
    func commit(_ change: Change) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waitingRequests.append(Request(change: change, continuation: continuation))
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if isFirst { queue.async { self.writeGroups() } }
        }
    }

    /// Waits until no group is being written.
    func finish() { queue.sync {} }

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
            guard !state.waitingRequests.isEmpty else {
                state.isWriting = false
                return nil
            }
            defer { state.waitingRequests = [] }
            return state.waitingRequests
        }
    }
}
