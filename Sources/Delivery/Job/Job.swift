import Telemetry

/// Sends what a plan says: each client's uploads in their order, several clients at once, every outcome durably in the
/// ledger before the next upload that depends on it.
///
/// Source: "Delivery", "A job".
public struct Job: Sendable {
    let plan: Plan
    let source: UploadSource
    let ledger: Ledger
    let settings: JobSettings

    /// Prepares a job.
    public init(plan: Plan, source: UploadSource, ledger: Ledger, settings: JobSettings) {
        self.plan = plan
        self.source = source
        self.ledger = ledger
        self.settings = settings
    }

    /// Sends until nothing is left that may be sent now. When its task is cancelled, nothing new is sent; the answers to
    /// requests that are under way have 3 seconds to come, and what is not answered by then stays in flight.
    ///
    /// Where the ledger or a bundle fails meanwhile, the report says so: what has its answer is settled if the ledger can take
    /// it, and what was under way stays marked.
    ///
    /// - Throws: ``CredentialError`` for a file of certificates.
    public func run() async throws -> JobReport {
        let systems = Set(plan.queues.map { plan.names.clients[$0.client].system })
        let sender = try Sender(settings.sender, systems: systems, now: settings.now)
        let run = JobRun(job: self, sender: sender, systems: systems)
        do {
            try await serve(run)
        } catch {
            run.fail(error)
        }
        await sender.shutdown()
        return run.report(wasStopped: Task.isCancelled)
    }

    private func serve(_ run: JobRun) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(max(1, settings.sender.connections), plan.queues.count) {
                group.addTask {
                    while let queue = run.nextQueue() { try await ClientRun(run, queue).send() }
                }
            }
            try await group.waitForAll()
        }
        // Fails if the ledger was removed after the last settlement.
        _ = try await ledger.commit(settling: [], marking: [], at: settings.now())
    }
}
