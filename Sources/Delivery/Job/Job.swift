import JSONText
import Synchronization
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
        try await ledger.commit(settling: nil, marking: nil, at: settings.now())
    }
}

/// The settings of a job.
public struct JobSettings: Sendable {
    /// The settings for requests, where `connections` is also the maximum number of concurrently served clients.
    public var sender: SenderSettings
    /// The credentials of the accounts.
    public var credentials: Credentials
    /// The schedule of retries.
    public var backoff = Backoff()
    /// The number of consecutive failed uploads after which no more requests are sent to a server.
    public var consecutiveFailureLimit = 5
    /// The number of identical refusals after which no more requests are sent to a server, or `nil` for no limit.
    public var equalRefusalLimit: Int? = 25
    /// The maximum number of requests in a second to all servers together, or `nil` for no limit.
    public var requestsPerSecond: Double?
    /// A function that receives a log entry for each finished upload, or `nil` to log no uploads.
    ///
    /// The function must return quickly, because the thread that transfers data calls it.
    public var log: (@Sendable (JobEvent) -> Void)?
    /// A function that returns the current time.
    public var now: @Sendable () -> Timestamp
    /// A function that returns a random number from 0 to 1, so that clients do not retry simultaneously.
    public var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }

    /// Creates settings with the default limits.
    public init(sender: SenderSettings, credentials: Credentials, now: @escaping @Sendable () -> Timestamp) {
        self.sender = sender
        self.credentials = credentials
        self.now = now
    }
}

/// A log entry for one finished upload.
public struct JobEvent: Sendable {
    /// The time at which the upload finished.
    public let time: Timestamp
    /// The type of the upload.
    public let type: TypeName
    /// The id of the record.
    public let id: String
    /// The client id of the record, or `nil` if the record has none.
    public let client: String?
    /// The outcome of the upload.
    public let outcome: Outcome

    /// The event as one line of canonical JSON.
    public var jsonLine: [UInt8] {
        let object: CanonicalObject = [
            "client": client, "id": id, "outcome": outcome.name, "reason": outcome.reason, "status": outcome.status,
            "system": type.system.description, "time": time.description, "type": type.name,
        ]
        return object.bytes
    }
}

/// The shared state of a running job: the gates of the servers, the stopped accounts and the report.
///
/// A class, because all clients of the job modify it.
final class JobRun: Sendable {
    let job: Job
    let sender: Sender
    /// The pace of all requests, or `nil` if it is not limited.
    let pace: RequestPace?
    private let gates: [Server: Gate]
    private let state = Mutex(State())

    private struct State {
        var nextQueueIndex = 0
        var stoppedAccounts: Set<Account> = []
        var masks: [Account: SecretMask] = [:]
        var report = JobReport()
    }

    init(job: Job, sender: Sender, servers: Set<Server>) {
        self.job = job
        self.sender = sender
        let settings = job.settings
        pace = settings.requestsPerSecond.map { RequestPace(requestsPerSecond: $0) }
        gates = Dictionary(
            uniqueKeysWithValues: servers.map { server in
                (
                    server,
                    Gate(
                        of: server.system, consecutiveFailureLimit: settings.consecutiveFailureLimit,
                        equalRefusalLimit: settings.equalRefusalLimit)
                )
            })
    }

    /// Returns the queue of the next client to serve, or `nil` if all queues were returned.
    func nextQueue() -> ClientQueue? {
        let index = state.withLock { state in
            defer { state.nextQueueIndex += 1 }
            return state.nextQueueIndex
        }
        return index < job.plan.queues.count ? job.plan.queues[index] : nil
    }

    /// Returns the server that receives `send`, or `nil` if its system is unknown.
    func server(of send: PlannedUpload) -> Server? { job.settings.sender.servers[type(of: send)] }

    private func type(of send: PlannedUpload) -> TypeName { job.plan.names.types[send.record.typeIndex] }

    /// Returns the gate of the server that receives `send`.
    func gate(of send: PlannedUpload) -> Gate {
        server(of: send).flatMap { gates[$0] }
            ?? Gate(of: type(of: send).system, consecutiveFailureLimit: 1)
    }

    /// Returns the account that `send` belongs to, or an account with an empty name if it needs no credential.
    func account(of send: PlannedUpload) -> Account {
        job.plan.pool.traits[send.record.traitsIndex].account
            ?? Account(system: type(of: send).system, name: "")
    }

    /// Returns the mask that hides the secrets of `account` in answers from servers.
    ///
    /// Masks are cached, because creating one is slow.
    func mask(of account: Account, _ credential: Credential) -> SecretMask {
        state.withLock { state in
            if let mask = state.masks[account] { return mask }
            let mask = SecretMask(credential.secrets)
            state.masks[account] = mask
            return mask
        }
    }

    func stop(_ account: Account) { state.withLock { _ = $0.stoppedAccounts.insert(account) } }
    func isStopped(_ account: Account) -> Bool { state.withLock { $0.stoppedAccounts.contains(account) } }

    func log(_ outcome: Outcome, of send: PlannedUpload, _ record: Record) {
        guard let log = job.settings.log else { return }
        log(
            JobEvent(
                time: job.settings.now(), type: type(of: send), id: record.id, client: record.client, outcome: outcome))
    }

    func count(_ settlement: Settlement, _ abortReason: UndeliveredReason?) {
        let (type, account) = (type(of: settlement.send), account(of: settlement.send))
        state.withLock { $0.report.count(settlement, abortReason, account: account, type: type) }
    }

    /// Stores an error that prevents uploads from being sent or settled, unless an earlier error is stored.
    func fail(_ error: any Error) { state.withLock { $0.report.failure = $0.report.failure ?? error } }

    func addUndelivered(_ uploads: Int, _ reason: UndeliveredReason) {
        state.withLock { $0.report.addUndelivered(uploads, reason) }
    }

    func end(client: UInt32, settled: [UInt32: Int]) {
        state.withLock { $0.report.end(client: client, settled: settled) }
    }

    func report(wasStopped: Bool) -> JobReport {
        state.withLock { state in
            state.report.wasStopped = wasStopped
            return state.report
        }
    }
}
