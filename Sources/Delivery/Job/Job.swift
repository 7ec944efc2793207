import Telemetry

/// A job that sends the uploads of a plan.
///
/// The uploads of one client are sent in order, and several clients are served concurrently. Each outcome is durable in
/// the ledger before the next upload of the same client is sent.
///
/// Source: "Delivery", "A job".
public struct Job: Sendable {
    let plan: Plan
    let source: UploadSource
    let ledger: Ledger
    let settings: JobSettings

    /// Creates a job that sends the uploads of `plan`.
    public init(plan: Plan, source: UploadSource, ledger: Ledger, settings: JobSettings) {
        self.plan = plan
        self.source = source
        self.ledger = ledger
        self.settings = settings
    }

    /// Sends all uploads that may be sent now, and returns a report.
    ///
    /// If the task is cancelled, no new request is sent. Requests under way have 3 seconds to receive their answers.
    /// Uploads without an answer stay in flight. If the ledger or a bundle fails, the report contains the error.
    ///
    /// - Throws: ``CredentialError`` if a certificate file cannot be used, or ``SendError`` if no HTTP client can be
    ///   created.
    public func run() async throws -> JobReport {
        let servers = servers
        let sender = try Sender(settings.sender, servers: servers, now: settings.now)
        let run = JobRun(job: self, sender: sender, servers: servers)
        do {
            try await serve(run)
        } catch {
            run.fail(error)
        }
        await sender.shutdown()
        return run.report(wasStopped: Task.isCancelled)
    }

    /// The servers that receive the uploads of the plan.
    private var servers: Set<Server> {
        let groups = plan.groupCounts.keys.filter { [.send, .sendPart].contains($0.disposition) }
        return Set(groups.compactMap { settings.sender.servers[plan.names.types[$0.typeIndex]] })
    }

    private func serve(_ run: JobRun) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<min(max(1, settings.sender.connections), plan.queues.count) {
                group.addTask(executorPreference: run.sender.executor) {
                    while let queue = run.nextQueue() { try await ClientRun(run, queue).send() }
                }
            }
            try await group.waitForAll()
        }
        // This call throws an error if the ledger was removed after the last settlement.
        _ = try await ledger.commit(settling: [], marking: [], at: settings.now())
    }
}
