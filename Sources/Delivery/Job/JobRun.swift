import Synchronization
import Telemetry

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
    func server(of send: PlannedUpload) -> Server? { job.settings.sender.servers[job.plan.names.types[send.typeIndex]] }

    /// Returns the gate of the server that receives `send`.
    func gate(of send: PlannedUpload) -> Gate {
        server(of: send).flatMap { gates[$0] }
            ?? Gate(of: job.plan.names.types[send.typeIndex].system, consecutiveFailureLimit: 1)
    }

    /// Returns the account that `send` belongs to, or an account with an empty name if it needs no credential.
    func account(of send: PlannedUpload) -> Account {
        if let account = send.accountIndex { return job.plan.names.accounts[account] }
        return Account(system: job.plan.names.types[send.typeIndex].system, name: "")
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
        let type = job.plan.names.types[send.typeIndex]
        log(JobEvent(time: job.settings.now(), type: type, id: record.id, client: record.client, outcome: outcome))
    }

    func count(_ settlement: Settlement, _ abortReason: UndeliveredReason?) {
        let (type, account) = (job.plan.names.types[settlement.send.typeIndex], account(of: settlement.send))
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
