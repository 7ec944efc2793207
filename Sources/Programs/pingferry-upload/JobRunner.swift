import CFiles
import Console
import Delivery
import Files
import Parallel

/// Runs a job and, after a signal, ends it within 5 seconds.
enum JobRunner {
    static func run(_ job: Job, progress: SendingProgress) async throws -> JobReport {
        defer { progress.clear() }
        // The job starts only after the signal handler is installed. Before that, a signal would end the process
        // immediately.
        let (start, starter) = AsyncStream.makeStream(of: Never.self)
        defer { starter.finish() }
        let task = Task {
            for await _ in start {}
            return try await job.run()
        }
        try catchStopSignal {
            // The task is cancelled first, so that no new request is sent after the message.
            task.cancel()
            progress.clear()
            StandardError.write(
                "\(PingferryUpload.name): stopping; requests under way have 3 seconds to receive their answers")
        }
        starter.finish()
        return try await task.value
    }

    /// Calls `body` on a separate thread when the first SIGINT, SIGTERM or SIGHUP arrives.
    ///
    /// A second signal ends the process immediately with exit status 128 + n. A signal that was ignored when the
    /// process started (`nohup`) stays ignored. Call this method only once.
    private static func catchStopSignal(_ body: @escaping @Sendable () -> Void) throws(FileError) {
        var code = cfiles_catch_stop()
        if code == 0 { code = BackgroundThread.start { if cfiles_wait_for_stop() != 0 { body() } } }
        guard code == 0 else { throw FileError(.open, "signal handler", code: code) }
    }
}
