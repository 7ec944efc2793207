import CCurl

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
