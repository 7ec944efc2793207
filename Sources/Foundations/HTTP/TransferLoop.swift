import CCurl

/// Drives the transfers of a client, on a thread of its own, until the client is closed.
struct TransferLoop: ~Copyable {
    private let mailbox: Mailbox
    private let settings: HTTPSettings
    private let kept: KeptSockets
    private var running: [Transfer] = []
    /// Those that have no request. Each keeps its buffers, so that no request needs new ones.
    private var spares: [Transfer] = []

    init(_ mailbox: Mailbox, _ settings: HTTPSettings) {
        self.mailbox = mailbox
        self.settings = settings
        kept = KeptSockets(connections: settings.connections)
    }

    /// Works until the client is closed.
    consuming func run() {
        while true {
            let news = mailbox.take()
            for start in news.starts { begin(start) }
            if news.isClosing { break }
            if news.mustLook { for transfer in running { transfer.lookAtEnd() } }
            // What has arrived counts, although this thread is late to read it. Therefore no transfer is ended whose time was not
            // over before the last look at what has arrived.
            let now = ContinuousClock.now
            if running.contains(where: { $0.end <= now }) { move(until: now) }
            let end = endLate(at: now)
            // Requests that begin are looked for again before the thread sleeps: others may have come in meanwhile.
            let maySleep = news.starts.isEmpty && mailbox.fallAsleep()
            move(until: maySleep ? end : .now)
        }
        let (starts, closing) = mailbox.end()
        endAll(.failed(.ended))
        for start in starts { start.finish(.failed(.ended)) }
        for done in closing { done() }
    }

    /// Moves what can be moved, and ends the transfers that are over then. Waits for that until an instant at most.
    private mutating func move(until instant: ContinuousClock.Instant) {
        if !mailbox.multi.perform(until: instant) {
            endAll(.failed(.other("libcurl failed", wasSent: true)))
        }
        while let (transfer, code) = mailbox.multi.nextOver() { end(transfer, transfer.conclude(code)) }
    }

    private mutating func begin(_ start: Mailbox.Start) {
        do throws(HTTPError) {
            let transfer = if let spare = spares.popLast() { spare } else { try Transfer(settings, kept) }
            try transfer.prepare(start.request, over: start.route, for: start.receiver)
            guard mailbox.multi.add(transfer) else {
                throw .other("there is not enough memory", wasSent: false)
            }
            transfer.finish = start.finish
            transfer.place = running.count
            running.append(transfer)
        } catch {
            start.finish(.failed(error))
        }
    }

    private mutating func end(_ transfer: Transfer, _ end: HTTPEnd) {
        mailbox.multi.remove(transfer)
        let last = running.removeLast()
        if last !== transfer {
            last.place = transfer.place
            running[last.place] = last
        }
        transfer.finish?(end)
        transfer.finish = nil
        spares.append(transfer)
    }

    /// Ends the transfers whose time is over.
    /// - Returns: how long the others can be waited for.
    private mutating func endLate(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        var next = now + Self.longestWait
        for transfer in running {
            if transfer.isOver(at: now) {
                transfer.forget()
                end(transfer, .late)
            } else {
                next = min(next, transfer.end)
            }
        }
        return next
    }

    /// Whatever happens, clocks are looked at again after it.
    private static let longestWait = Duration.seconds(60)

    private mutating func endAll(_ reason: HTTPEnd) {
        for transfer in running {
            transfer.forget()
            end(transfer, reason)
        }
    }
}
