import CCurl
import Dispatch
import Synchronization

/// The event loop that performs the transfers of a client, and runs tasks, on a separate thread.
struct TransferLoop: ~Copyable {
    private let mailbox: Mailbox
    private let settings: HTTPSettings
    private let idleConnections: IdleConnections
    private var runningTransfers: [Transfer] = []
    /// The transfers without a request, which are reused together with their buffers.
    private var idleTransfers: [Transfer] = []

    init(_ mailbox: Mailbox, _ settings: HTTPSettings) {
        self.mailbox = mailbox
        self.settings = settings
        idleConnections = IdleConnections(connections: settings.connections)
    }

    /// Runs until the client is closed.
    consuming func run() {
        while true {
            // The requests that these jobs add are started below.
            for job in mailbox.drainJobs() { mailbox.run(job) }
            let changes = mailbox.drain()
            for request in changes.requests { start(request) }
            if changes.isClosing { break }
            if changes.mustUpdateDeadlines { for transfer in runningTransfers { transfer.updateDeadline() } }
            // Data that arrived in time counts even if this thread reads it late. Before a transfer times out, the data
            // that has arrived is therefore read.
            let now = ContinuousClock.now
            if runningTransfers.contains(where: { $0.deadline <= now }) { perform(until: now) }
            let nextDeadline = endTimedOutTransfers(at: now)
            // If requests were started, the thread does not wait, because further requests may have been added
            // meanwhile.
            let mayWait = changes.requests.isEmpty && mailbox.beginWaiting()
            perform(until: mayWait ? nextDeadline : .now)
        }
        let (jobs, requests, closeHandlers) = mailbox.closeAndDrain()
        endAllTransfers(.failed(.ended))
        for request in requests { request.completion(.failed(.ended)) }
        for job in jobs { mailbox.run(job) }
        for handler in closeHandlers { handler() }
    }

    /// Waits for network activity until `instant` at the latest, performs the transfers, and ends the finished
    /// transfers.
    private mutating func perform(until instant: ContinuousClock.Instant) {
        let succeeded = mailbox.multiHandle.perform(until: instant)
        mailbox.endWaiting()
        if !succeeded {
            endAllTransfers(.failed(.other("libcurl failed", wasSent: true)))
        }
        while let (transfer, code) = mailbox.multiHandle.nextFinished() { end(transfer, transfer.finish(code)) }
    }

    private mutating func start(_ request: Mailbox.PendingRequest) {
        do throws(HTTPError) {
            let transfer =
                if let reused = idleTransfers.popLast() { reused } else { try Transfer(settings, idleConnections) }
            try transfer.prepare(request.request, over: request.route, for: request.receiver)
            guard mailbox.multiHandle.add(transfer) else {
                throw .other("there is not enough memory", wasSent: false)
            }
            transfer.completion = request.completion
            transfer.runningIndex = runningTransfers.count
            runningTransfers.append(transfer)
        } catch {
            request.completion(.failed(error))
        }
    }

    private mutating func end(_ transfer: Transfer, _ outcome: HTTPOutcome) {
        mailbox.multiHandle.remove(transfer)
        let last = runningTransfers.removeLast()
        if last !== transfer {
            last.runningIndex = transfer.runningIndex
            runningTransfers[last.runningIndex] = last
        }
        transfer.completion?(outcome)
        transfer.completion = nil
        idleTransfers.append(transfer)
    }

    /// Ends the transfers whose deadline has passed, and returns the time at which the deadlines must be checked again.
    ///
    /// This is the earliest deadline of the remaining transfers, but at most ``maximumWait`` after `now`.
    private mutating func endTimedOutTransfers(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        var next = now + Self.maximumWait
        for transfer in runningTransfers {
            if transfer.hasTimedOut(at: now) {
                transfer.releaseRequest()
                end(transfer, .late)
            } else {
                next = min(next, transfer.deadline)
            }
        }
        return next
    }

    /// The maximum time to wait, after which the deadlines are checked again.
    private static let maximumWait = Duration.seconds(60)

    private mutating func endAllTransfers(_ outcome: HTTPOutcome) {
        for transfer in runningTransfers {
            transfer.releaseRequest()
            end(transfer, outcome)
        }
    }
}

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
