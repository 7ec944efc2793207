import CFiles
import Files
import Parallel
import Synchronization

/// The first SIGINT, SIGTERM or SIGHUP that the process receives after ``handle(_:)`` was called.
///
/// A second signal ends the process immediately with the exit status 128 + n. A signal that was ignored when the
/// process started, as with `nohup`, stays ignored.
enum StopSignal {
    private struct State {
        var handler: (@Sendable (Int32) -> Void)?
        var received: Int32?
    }

    private static let state = Mutex(State())

    /// Calls `handler` on a separate thread when the signal arrives, or on this thread if it has already arrived.
    ///
    /// A handler that was set before is no longer called.
    static func handle(_ handler: @escaping @Sendable (Int32) -> Void) throws(FileError) {
        let (isFirst, received) = state.withLock { state in
            defer { state.handler = handler }
            return (state.handler == nil, state.received)
        }
        if let received { handler(received) }
        guard isFirst else { return }
        var code = cfiles_catch_stop()
        if code == 0 { code = BackgroundThread.start { waitForSignal() } }
        guard code == 0 else { throw FileError(.open, "signal handler", code: code) }
    }

    private static func waitForSignal() {
        let signal = cfiles_wait_for_stop()
        guard signal != 0 else { return }
        let handler = state.withLock { state in
            state.received = signal
            return state.handler
        }
        handler?(signal)
    }

    /// Ends the process as if `signal` had not been handled.
    ///
    /// The previous handler is restored, because it removes the unfinished file of a receipt.
    static func endProcess(_ signal: Int32) { cfiles_end_by_stop(signal) }
}
