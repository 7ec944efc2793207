import Dispatch
import Synchronization

/// The queue through which tasks communicate with the thread of the client, and an executor that runs tasks on it.
final class Mailbox: TaskExecutor {
    /// A request that the thread of the client has not started yet.
    struct PendingRequest: Sendable {
        let request: HTTPRequest
        let route: HTTPRoute
        let receiver: any HTTPReceiver
        let completion: @Sendable (HTTPOutcome) -> Void
    }

    private struct Contents {
        var jobs: [UnownedJob] = []
        var requests: [PendingRequest] = []
        var mustUpdateDeadlines = false
        var isWaiting = false
        var isClosed = false
        var closeHandlers: [@Sendable () -> Void] = []

        var isEmpty: Bool { jobs.isEmpty && requests.isEmpty && !mustUpdateDeadlines && closeHandlers.isEmpty }
    }

    let multiHandle: MultiHandle
    private let contents = Mutex(Contents())

    init(_ multiHandle: consuming MultiHandle) { self.multiHandle = multiHandle }

    // MARK: Called by tasks

    /// Makes the thread of the client run a job.
    ///
    /// After the client was closed, a thread of the dispatch library runs it.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if update({ $0.jobs.append(job) }) { DispatchQueue.global().async { self.run(job) } }
    }

    func add(_ request: PendingRequest) {
        if update({ $0.requests.append(request) }) { request.completion(.failed(.ended)) }
    }

    /// Makes the thread update the deadlines of all transfers.
    func updateDeadlines() { _ = update { $0.mustUpdateDeadlines = true } }

    /// Ends the thread and calls `handler` when it has ended.
    func close(_ handler: @escaping @Sendable () -> Void) {
        if update({ $0.closeHandlers.append(handler) }) { handler() }
    }

    /// Changes the contents and wakes the thread.
    ///
    /// If the thread has ended, returns `true` without changing anything.
    private func update(_ body: (inout Contents) -> Void) -> Bool {
        let (isClosed, wasWaiting) = contents.withLock { contents in
            guard !contents.isClosed else { return (true, false) }
            body(&contents)
            defer { contents.isWaiting = false }
            return (false, contents.isWaiting)
        }
        // A thread that is not waiting processes the changes anyway.
        if wasWaiting { multiHandle.wake() }
        return isClosed
    }

    // MARK: Called by the thread of the client

    /// Runs a job on the current thread, which is another thread after the client was closed.
    func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }

    /// Removes and returns the jobs of tasks.
    func drainJobs() -> [UnownedJob] {
        contents.withLock { contents in
            defer { contents.jobs = [] }
            return contents.jobs
        }
    }

    /// Removes and returns the other contents of the mailbox.
    func drain() -> (requests: [PendingRequest], mustUpdateDeadlines: Bool, isClosing: Bool) {
        contents.withLock { contents in
            defer {
                contents.requests = []
                contents.mustUpdateDeadlines = false
            }
            return (contents.requests, contents.mustUpdateDeadlines, !contents.closeHandlers.isEmpty)
        }
    }

    /// Returns whether the thread may wait because there are no changes.
    func beginWaiting() -> Bool {
        contents.withLock { contents in
            contents.isWaiting = contents.isEmpty
            return contents.isWaiting
        }
    }

    /// States that the thread has stopped waiting, so that it does not wake itself.
    func endWaiting() { contents.withLock { $0.isWaiting = false } }

    /// Closes the mailbox, and returns the jobs, requests and close handlers that were not processed yet.
    func closeAndDrain() -> (
        jobs: [UnownedJob], requests: [PendingRequest], closeHandlers: [@Sendable () -> Void]
    ) {
        contents.withLock { contents in
            defer { contents = Contents(isClosed: true) }
            return (contents.jobs, contents.requests, contents.closeHandlers)
        }
    }
}
