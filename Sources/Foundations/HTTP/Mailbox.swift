import Synchronization

/// What tasks hand to the thread that drives their transfers.
///
/// A class, because tasks and the thread share it.
final class Mailbox: Sendable {
    /// A request that waits for its turn.
    struct Start: Sendable {
        let request: HTTPRequest
        let route: HTTPRoute
        let receiver: any HTTPReceiver
        let finish: @Sendable (HTTPEnd) -> Void
    }

    private struct Contents {
        var starts: [Start] = []
        var hasNews = false
        var mustLook = false
        var isAsleep = false
        var isClosed = false
        var closing: [@Sendable () -> Void] = []
    }

    /// The transfers and their connections.
    let multi: MultiHandle
    private let contents = Mutex(Contents())

    init(_ multi: consuming MultiHandle) { self.multi = multi }

    // MARK: For tasks

    func put(_ start: Start) {
        if change({ $0.starts.append(start) }) { start.finish(.failed(.ended)) }
    }

    /// Makes the thread look at the clocks of all transfers.
    func wake() { _ = change { $0.mustLook = true } }

    /// Makes the thread end.
    /// - Parameter done: called when it has, or had before.
    func close(_ done: @escaping @Sendable () -> Void) {
        if change({ $0.closing.append(done) }) { done() }
    }

    /// - Returns: whether the thread has ended, so that nothing was changed.
    private func change(_ body: (inout Contents) -> Void) -> Bool {
        let (isClosed, wasAsleep) = contents.withLock { contents in
            guard !contents.isClosed else { return (true, false) }
            body(&contents)
            contents.hasNews = true
            defer { contents.isAsleep = false }
            return (false, contents.isAsleep)
        }
        // One byte in a pipe for many requests, as long as the thread is at work.
        if wasAsleep { multi.wake() }
        return isClosed
    }

    // MARK: For the thread

    /// What has come in; whether to look at the clocks of all transfers; and whether the thread is to end.
    func take() -> (starts: [Start], mustLook: Bool, isClosing: Bool) {
        contents.withLock { contents in
            contents.isAsleep = false
            contents.hasNews = false
            defer {
                contents.starts = []
                contents.mustLook = false
            }
            return (contents.starts, contents.mustLook, !contents.closing.isEmpty)
        }
    }

    /// Whether the thread may wait: not if something has come in.
    func fallAsleep() -> Bool {
        contents.withLock { contents in
            contents.isAsleep = !contents.hasNews
            return contents.isAsleep
        }
    }

    /// The thread takes nothing any more.
    /// - Returns: what nobody will take, and whom to tell when all is over.
    func end() -> (starts: [Start], closing: [@Sendable () -> Void]) {
        contents.withLock { contents in
            contents.isClosed = true
            defer { contents = Contents(isClosed: true) }
            return (contents.starts, contents.closing)
        }
    }
}
