import CFiles
import Console
import Delivery
import Files
import Parallel

/// The sending of a job, which a signal ends early, within 5 seconds: what is under way has a moment to get its answer.
enum Sending {
    /// Sends what is planned.
    static func run(_ job: Job, progress: SendingProgress) async throws -> JobReport {
        defer { progress.clear() }
        // The job starts when the signal handler is installed. Before that, a signal would end it at once.
        let (start, starter) = AsyncStream.makeStream(of: Never.self)
        defer { starter.finish() }
        let task = Task {
            for await _ in start {}
            return try await job.run()
        }
        try catchStopSignal {
            // First, so that nothing new is begun once it is told.
            task.cancel()
            progress.clear()
            StandardError.write("\(PingferryUpload.name): stopping: what is under way has 3 seconds to get its answer")
        }
        starter.finish()
        return try await task.value
    }

    /// Calls `body`, on a separate thread, at the first SIGINT, SIGTERM or SIGHUP, which then does not end the process. A second
    /// one does at once, with exit status 128 + n. A signal that was ignored on entry (`nohup`) stays ignored. To be called once.
    ///
    /// - Throws: `FileError` when a handler cannot be installed.
    private static func catchStopSignal(_ body: @escaping @Sendable () -> Void) throws(FileError) {
        var code = cfiles_catch_stop()
        if code == 0 { code = BackgroundThread.start { if cfiles_wait_for_stop() != 0 { body() } } }
        guard code == 0 else { throw FileError(.open, "signal handler", code: code) }
    }
}
