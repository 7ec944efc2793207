import Console
import Delivery
import Files

/// The sending of a job, which a signal ends early: what is under way comes to its end first.
enum Sending {
    /// Sends what is planned.
    static func run(_ job: Job) async throws -> JobReport {
        let task = Task { try await job.run() }
        try StopSignal.catchFirst {
            StandardError.write("\(PingferryUpload.name): stopping when what is under way has its answer")
            task.cancel()
        }
        return try await task.value
    }
}
