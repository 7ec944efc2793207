import Dispatch
import Synchronization

/// The queue through which tasks communicate with the thread of a client, and an executor that runs tasks on that
/// thread.
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

    /// Makes the thread of the client run `job`.
    ///
    /// After the client was closed, a thread of the dispatch library runs `job`.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if update({ $0.jobs.append(job) }) { DispatchQueue.global().async { self.run(job) } }
    }

    func add(_ request: PendingRequest) {
        if update({ $0.requests.append(request) }) { request.completion(.failed(.ended)) }
    }

    /// Makes the thread of the client update the deadlines of all transfers.
    func updateDeadlines() { _ = update { $0.mustUpdateDeadlines = true } }

    /// Makes the thread of the client end, and calls `handler` when all requests have ended.
    func close(_ handler: @escaping @Sendable () -> Void) {
        if update({ $0.closeHandlers.append(handler) }) { handler() }
    }

    /// Calls `body` with the contents and wakes the thread if it is waiting.
    ///
    /// Returns whether the mailbox is closed. If so, `body` is not called.
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

    /// Runs `job` on the current thread.
    ///
    /// After the client was closed, this is not the thread of the client.
    func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }

    /// Removes and returns the jobs of tasks.
    func drainJobs() -> [UnownedJob] {
        contents.withLock { contents in
            defer { contents.jobs = [] }
            return contents.jobs
        }
    }

    /// Removes and returns the requests and the deadline notification, and returns whether the client is to be closed.
    ///
    /// The close handlers stay in the mailbox until ``closeAndDrain()`` is called.
    func drain() -> (requests: [PendingRequest], mustUpdateDeadlines: Bool, isClosing: Bool) {
        contents.withLock { contents in
            defer {
                contents.requests = []
                contents.mustUpdateDeadlines = false
            }
            return (contents.requests, contents.mustUpdateDeadlines, !contents.closeHandlers.isEmpty)
        }
    }

    /// Marks the thread as waiting if the mailbox is empty, and returns whether the thread may wait.
    func beginWaiting() -> Bool {
        contents.withLock { contents in
            contents.isWaiting = contents.isEmpty
            return contents.isWaiting
        }
    }

    /// Marks the thread as not waiting, so that changes that are made on the thread itself do not wake it.
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
