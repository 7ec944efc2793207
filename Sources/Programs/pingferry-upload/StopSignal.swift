import CFiles
import Files
import Parallel

/// A signal that asks the process to come to an end: SIGINT, SIGTERM or SIGHUP.
enum StopSignal {
    /// Calls a body, on a thread of its own, at the first such signal, which then does not end the process. A second one
    /// does at once, with exit status 128 + n. A signal that was ignored on entry (`nohup`) stays ignored. To be called once.
    ///
    /// - Throws: `FileError` when a handler cannot be installed.
    static func catchFirst(_ body: @escaping @Sendable () -> Void) throws(FileError) {
        var code = cfiles_catch_stop()
        if code == 0 { code = BackgroundThread.start { if cfiles_wait_for_stop() != 0 { body() } } }
        guard code == 0 else { throw FileError(.open, "signal handler", code: code) }
    }
}
