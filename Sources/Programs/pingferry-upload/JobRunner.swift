import Console
import Delivery

/// A runner that executes a job and, after a signal or after its maximum duration, ends it within 5 seconds.
enum JobRunner {
    /// Runs `job`, and stops it at `deadline`, unless it is `nil`.
    static func run(
        _ job: Job, progress: SendingProgress, until deadline: ContinuousClock.Instant?
    ) async throws -> JobReport {
        defer { progress.clear() }
        // The job starts only after the signal handler is installed. Before that, a signal would end the process
        // immediately.
        let (start, starter) = AsyncStream.makeStream(of: Never.self)
        defer { starter.finish() }
        let task = Task {
            for await _ in start {}
            return try await job.run()
        }
        try StopSignal.handle { _ in
            // The task is cancelled first, so that no new request is sent after the message.
            task.cancel()
            progress.clear()
            StandardError.write(
                "\(PingferryUpload.name): stopping; requests under way have 3 seconds to receive their answers")
        }
        let timer = deadline.map { deadline in
            Task {
                try await Task.sleep(until: deadline, clock: .continuous)
                task.cancel()
            }
        }
        defer { timer?.cancel() }
        starter.finish()
        return try await task.value
    }
}
