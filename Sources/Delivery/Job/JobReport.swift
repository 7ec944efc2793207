import Bytes
import Telemetry

/// The result of a job.
///
/// ``attemptedUploadCount`` and ``undeliveredUploadCounts`` count uploads. All other counts are numbers of records.
public struct JobReport: Sendable {
    /// The number of uploads that were attempted.
    public private(set) var attemptedUploadCount = 0
    /// The number of attempted uploads that were neither delivered nor refused, unless the job was stopped meanwhile.
    public private(set) var failedUploadCount = 0
    /// The number of records that were delivered completely.
    public private(set) var deliveredRecordCount = 0
    /// The number of settled records that have at least one refused part.
    public private(set) var refusedRecordCount = 0
    /// The number of uploads that were not delivered, by reason.
    ///
    /// They are left for a later job, except for the uploads of ended clients.
    public private(set) var undeliveredUploadCounts: [UndeliveredReason: Int] = [:]
    /// The accounts whose credentials the server rejected.
    public private(set) var rejectedAccounts: Set<Account> = []
    /// The first 20 distinct problems with uploads, each as one line.
    public private(set) var problems: [String] = []
    /// The clients that a server ended, each with the number of records of each type that were settled before.
    ///
    /// The keys are indices in ``PlanNames/clients`` and ``PlanNames/types``.
    public private(set) var endedClients: [UInt32: [UInt32: Int]] = [:]
    /// Whether the job was stopped before its end.
    public internal(set) var wasStopped = false
    /// The first error that prevented uploads from being sent or settled, or `nil` if there was none.
    ///
    /// The error is from the ledger or from a bundle.
    public internal(set) var failure: (any Error)?
    /// The keys of the records that have both settled and unsettled parts.
    public private(set) var partlySettledKeys: Set<RecordKey> = []
    /// The keys of the records that have a refused part and may have unsent parts.
    private var partlyRefusedKeys: Set<RecordKey> = []

    /// The records whose last answer was a server error without a requested pause.
    private var serverErrors: [(system: SystemName, key: RecordKey)] = []
    /// The systems of which at least one upload was delivered.
    private var deliveringSystems: Set<SystemName> = []

    private static let maximumProblemCount = 20

    /// Whether uploads were attempted, but nothing was delivered, whatever the kind of failure.
    ///
    /// Refused uploads are not counted here, because the operator resolves them.
    public var isOutage: Bool { failedUploadCount > 0 && deliveredRecordCount == 0 && partlySettledKeys.isEmpty }

    /// The records that alone failed with a server error, while other records of their system were delivered.
    ///
    /// If the job stopped sending to a server of the system, the server is at fault, and not the record.
    var loneFailures: [RecordKey] {
        let stopped = Set(
            undeliveredUploadCounts.keys.filter { $0.code == UndeliveredCode.serverStopped.rawValue }
                .map(\.system))
        return serverErrors.filter { deliveringSystems.contains($0.system) && !stopped.contains($0.system) }.map(\.key)
    }

    /// Counts an attempted upload, where `abortReason` is `nil` if the outcome specifies why the attempts ended.
    mutating func count(
        _ settlement: Settlement, _ abortReason: UndeliveredReason? = nil, account: Account, type: TypeName
    ) {
        let (send, outcome) = (settlement.send, settlement.outcome)
        attemptedUploadCount += 1
        if !outcome.isSettled, abortReason == nil { failedUploadCount += 1 }
        switch outcome {
        case .delivered(_, let note):
            settle(send)
            deliveringSystems.insert(type.system)
            if let note { add(problem: "delivered: \(note)", type) }
        case .refused(let status, let reason):
            partlyRefusedKeys.insert(send.record.key)
            settle(send)
            add(problem: "refused (\(status)): \(reason)", type)
        case .retryLater(let status, let reason):
            if let status, status >= 500, abortReason == nil, settlement.pause == nil {
                serverErrors.append((type.system, send.record.key))
            }
            undeliveredUploadCounts[
                abortReason ?? UndeliveredReason(type.system, status: status, reason), default: 0] += 1
            add(problem: "not delivered\(status.map { " (\($0))" } ?? ""): \(reason)", type)
        case .unknown(let reason):
            undeliveredUploadCounts[UndeliveredReason(type.system, .perhapsDelivered, reason), default: 0] += 1
            add(problem: "perhaps delivered: \(reason)", type)
        case .credentialWrong(let status, let reason, _):
            undeliveredUploadCounts[UndeliveredReason(type.system, .credentialRefused, reason), default: 0] += 1
            rejectedAccounts.insert(account)
            add(problem: "stopped (\(status)): \(reason)", type)
        }
    }

    /// Counts the record of a settled upload as refused or delivered if the upload was its last part.
    private mutating func settle(_ send: PlannedUpload) {
        guard send.completesRecord else {
            partlySettledKeys.insert(send.record.key)
            return
        }
        partlySettledKeys.remove(send.record.key)
        if partlyRefusedKeys.remove(send.record.key) != nil || send.followsRefusal {
            refusedRecordCount += 1
        } else {
            deliveredRecordCount += 1
        }
    }

    /// Adds `client` to the clients whose uploads a server no longer accepts.
    ///
    /// `settled` contains the number of the client's records that were settled before, by type. Only the first call for
    /// a client has an effect.
    mutating func end(client: UInt32, settled: [UInt32: Int]) {
        // Later answers to records with precedence can end the client again.
        if endedClients[client] == nil { endedClients[client] = settled }
    }

    /// Adds uploads that were planned but not attempted.
    mutating func addUndelivered(_ uploads: Int, _ reason: UndeliveredReason) {
        if uploads > 0 { undeliveredUploadCounts[reason, default: 0] += uploads }
    }

    private mutating func add(problem: String, _ type: TypeName) {
        let line = "\(type.system.description) \(type.name): \(problem)"
        if problems.count < Self.maximumProblemCount, !problems.contains(line) { problems.append(line) }
    }
}

/// The reason why a planned upload was not delivered in a job: a stable code and a message.
public struct UndeliveredReason: Sendable, Hashable {
    /// The system of the upload.
    public let system: SystemName
    /// The stable code, such as `no-answer` or `status-503`.
    @CapturedText public private(set) var code: String
    /// The HTTP status of the answer, or `nil` if the reason is not an answer.
    public let status: Int?
    /// The message, which may contain text from the server.
    @CapturedText public private(set) var text: String

    init(_ system: SystemName, _ code: UndeliveredCode, _ text: String, status: Int? = nil) {
        self.system = system
        self.code = code.rawValue
        self.status = status
        self.text = text
    }

    /// Creates a reason from the HTTP status of an answer, or from a missing answer if `status` is `nil`.
    init(_ system: SystemName, status: Int?, _ text: String) {
        self.system = system
        code = status.map { "status-\($0)" } ?? UndeliveredCode.noAnswer.rawValue
        self.status = status
        self.text = text
    }

    /// The message, preceded by the status if there is one, such as `503 the server is busy or failing`.
    ///
    /// For uploads that were not attempted, because a server had failed, `not tried after` precedes both.
    public var phrase: String {
        let answer = status.map { "\($0) \(text)" } ?? text
        return code == UndeliveredCode.serverStopped.rawValue ? "not tried after \(answer)" : answer
    }
}

/// The codes of an ``UndeliveredReason`` other than an HTTP status.
enum UndeliveredCode: String {
    /// The server may have received the upload, but its answer is missing.
    case perhapsDelivered = "perhaps-delivered"
    /// No connection was made, or the request did not reach the server.
    case noAnswer = "no-answer"
    case credentialRefused = "credential-refused"
    /// No more requests are sent to the server in this job.
    case serverStopped = "server-left-alone"
    /// The server sent the same refusal too often in this job.
    case refusalLimit = "refusal-limit"
    case jobStopped = "job-stopped"
    case earlierUploadFailed = "earlier-upload-failed"
    /// The server requested a long delay before the next upload of the client.
    case clientPaused = "client-paused"
    /// The server accepts no more uploads of the client, so that later jobs do not send them either.
    case deletionRequested = "deletion-requested"
    case dailyLimit = "daily-limit"
    case bundleUnreadable = "bundle-unreadable"
    /// No request can be created from the record.
    case noRequest = "no-request"
}
