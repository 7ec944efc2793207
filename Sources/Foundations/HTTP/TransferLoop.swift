import CCurl

/// Drives the transfers of a client, on a thread of its own, until the client is closed.
struct TransferLoop: ~Copyable {
    private let mailbox: Mailbox
    private let settings: HTTPSettings
    private var running: [Transfer] = []
    /// Those that have no request. Each keeps its buffers, so that no request needs new ones.
    private var spares: [Transfer] = []

    init(_ mailbox: Mailbox, _ settings: HTTPSettings) {
        self.mailbox = mailbox
        self.settings = settings
    }

    /// Works until the client is closed.
    consuming func run() {
        while true {
            let (starts, isClosing) = mailbox.take()
            for start in starts { begin(start) }
            if isClosing { break }
            if !mailbox.multi.perform() { endAll(.failed(.other("libcurl failed", wasSent: true))) }
            while let (transfer, code) = mailbox.multi.nextOver() {
                end(transfer, transfer.conclude(code))
            }
            let wait = endLate()
            if mailbox.fallAsleep() { mailbox.multi.wait(milliseconds: wait) }
        }
        let (starts, closing) = mailbox.end()
        endAll(.failed(.ended))
        for start in starts { start.finish(.failed(.ended)) }
        for done in closing { done() }
    }

    private mutating func begin(_ start: Mailbox.Start) {
        do throws(HTTPError) {
            let transfer = if let spare = spares.popLast() { spare } else { try Transfer(settings) }
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
    /// - Returns: how long the others can be waited for, in milliseconds.
    private mutating func endLate() -> Int32 {
        guard !running.isEmpty else { return Self.longestWait }
        let now = ContinuousClock.now
        var next = now + .milliseconds(Self.longestWait)
        for transfer in running {
            if transfer.isOver(at: now) {
                transfer.forget()
                end(transfer, .late)
            } else if let end = transfer.end {
                next = min(next, end)
            }
        }
        let wait = (next - now).components
        // Rounded up, lest the last millisecond be spent in a circle.
        return Int32(clamping: wait.seconds * 1000 + wait.attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// Whatever happens, clocks are looked at again after a minute.
    private static let longestWait: Int32 = 60_000

    private mutating func endAll(_ reason: HTTPEnd) {
        for transfer in running {
            transfer.forget()
            end(transfer, reason)
        }
    }
}
