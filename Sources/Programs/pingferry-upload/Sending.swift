import Console
import Delivery
import Files

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
        try StopSignal.catchFirst {
            // First, so that nothing new is begun once it is told.
            task.cancel()
            progress.clear()
            StandardError.write("\(PingferryUpload.name): stopping: what is under way has 3 seconds to get its answer")
        }
        starter.finish()
        return try await task.value
    }
}
