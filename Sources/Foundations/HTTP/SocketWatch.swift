import CCurl
import Glibc

/// What libcurl waits for: sockets that can be read from or written to, and a time. With it no socket is asked whether it is
/// ready, of a hundred of which one is.
///
/// A class, because libcurl's callbacks find it by its address. It belongs to the thread that drives the transfers; only
/// ``wake()`` may be called on any thread.
///
/// Source: Linux, `epoll(7)`.
final class SocketWatch: @unchecked Sendable {
    /// A socket that is ready, and what for, as libcurl says it.
    struct Ready {
        let socket: curl_socket_t
        let actions: Int32
    }

    private let queue: Int32
    private let bell: Int32
    private var events: [epoll_event]
    /// When libcurl wants to be called although no socket is ready; nil for not at all.
    private var time: ContinuousClock.Instant?

    /// - Parameter sockets: how many are likely to be ready at once.
    /// - Throws: `HTTPError` where the system gives no more descriptors.
    init(sockets: Int) throws(HTTPError) {
        queue = epoll_create1(Int32(EPOLL_CLOEXEC))
        bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        events = Array(repeating: epoll_event(), count: max(16, min(sockets, 1024)))
        // Each ring is an event of its own, so that nothing has to be read.
        guard queue >= 0, bell >= 0, change(bell, EPOLL_CTL_ADD, EPOLLIN.rawValue | EPOLLET.rawValue) else {
            throw .other(String(cString: strerror(errno)), wasSent: false)
        }
    }

    deinit {
        if bell >= 0 { close(bell) }
        if queue >= 0 { close(queue) }
    }

    /// Ends a wait, or the next one.
    func wake() { eventfd_write(bell, 1) }

    // MARK: What libcurl says

    /// The watch whose address was given to libcurl.
    static func at(_ context: UnsafeMutableRawPointer) -> SocketWatch {
        Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue()
    }

    /// Waits for a socket from now on, or for something else than before, or no more.
    /// - Parameter what: one of libcurl's `CURL_POLL_` numbers.
    /// - Returns: whether the system took it.
    func watch(_ socket: curl_socket_t, for what: Int32) -> Bool {
        if what == CURL_POLL_REMOVE {
            // A socket that was closed is out already.
            _ = change(socket, EPOLL_CTL_DEL, 0)
            return true
        }
        var wanted: UInt32 = 0
        if what & CURL_POLL_IN != 0 { wanted |= EPOLLIN.rawValue }
        if what & CURL_POLL_OUT != 0 { wanted |= EPOLLOUT.rawValue }
        return change(socket, EPOLL_CTL_ADD, wanted) || errno == EEXIST && change(socket, EPOLL_CTL_MOD, wanted)
    }

    /// - Parameter milliseconds: from now; below 0 for no time at all.
    func setTime(in milliseconds: Int) { time = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds) }

    private func change(_ socket: Int32, _ operation: Int32, _ wanted: UInt32) -> Bool {
        var event = epoll_event(events: wanted, data: epoll_data(fd: socket))
        return epoll_ctl(queue, operation, socket, &event) == 0
    }

    // MARK: Waiting

    /// Whether libcurl wants to be called now. Asked once for each time that it names.
    func takeTime() -> Bool {
        guard let time, time <= .now else { return false }
        self.time = nil
        return true
    }

    /// Waits until a socket is ready, libcurl's time has come, it is woken, or an instant is reached.
    /// - Parameter body: takes each socket that is ready.
    func wait(until end: ContinuousClock.Instant, _ body: (Ready) -> Void) {
        let count = epoll_wait(queue, &events, Int32(events.count), Self.milliseconds(to: min(end, time ?? end)))
        for place in 0..<max(0, Int(count)) where events[place].data.fd != bell {
            body(Ready(socket: events[place].data.fd, actions: Self.actions(of: events[place].events)))
        }
    }

    /// A connection that broke is found by reading or writing, which tells why it did.
    private static func actions(of events: UInt32) -> Int32 {
        let broken = EPOLLERR.rawValue | EPOLLHUP.rawValue
        var actions: Int32 = 0
        if events & (EPOLLIN.rawValue | broken) != 0 { actions |= CURL_CSELECT_IN }
        if events & (EPOLLOUT.rawValue | broken) != 0 { actions |= CURL_CSELECT_OUT }
        return actions
    }

    /// How long to wait, rounded up, lest the last millisecond be spent in a circle.
    private static func milliseconds(to end: ContinuousClock.Instant) -> Int32 {
        let left = (end - .now).components
        guard left.seconds >= 0, left.attoseconds > 0 || left.seconds > 0 else { return 0 }
        return Int32(clamping: left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1)
    }
}
