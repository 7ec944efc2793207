import CFiles
import Files
import Glibc
import Synchronization

/// The first SIGINT, SIGTERM or SIGHUP that the process receives after ``handle(_:)`` was called, and each SIGUSR1.
///
/// A second signal ends the process immediately with the exit status 128 + n. A signal that was ignored when the
/// process started, as with `nohup`, stays ignored.
enum StopSignal {
    private struct State {
        var handler: (@Sendable (Int32) -> Void)?
        var received: Int32?
        var progressHandler: (@Sendable () -> Void)?
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

    /// Calls `handler` on a separate thread for each SIGUSR1 that arrives after ``handle(_:)`` was called, too.
    static func onProgressRequest(_ handler: (@Sendable () -> Void)?) {
        state.withLock { $0.progressHandler = handler }
    }

    private static func waitForSignal() {
        var signal = cfiles_wait_for_stop()
        while signal == SIGUSR1 {
            state.withLock(\.progressHandler)?()
            signal = cfiles_wait_for_stop()
        }
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
