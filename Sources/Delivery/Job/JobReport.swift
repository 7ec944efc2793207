import Telemetry

/// The result of a job, counted by records.
public struct JobReport: Sendable {
    /// Uploads that were tried.
    public private(set) var requests = 0
    /// Records of which all was delivered.
    public private(set) var delivered = 0
    /// Records of which all was settled and something was refused for good.
    public private(set) var refused = 0
    /// Why uploads were left for another job, and how many for each reason.
    public private(set) var undelivered: [UndeliveredReason: Int] = [:]
    /// Accounts whose credential was refused.
    public private(set) var wrongCredentials: Set<Account> = []
    /// Problems with uploads, a line each, without repetitions.
    public private(set) var problems: [String] = []
    /// Whether the job was told to stop before its end.
    public internal(set) var wasStopped = false
    /// Why some uploads could not be read or settled: the first error of the ledger or of a bundle.
    public internal(set) var failure: (any Error)?
    /// Records of which a part was settled, and another one was not.
    public private(set) var partlySettled: Set<DeliveryKey> = []
    /// Records of which something was refused, and other parts may follow.
    private var partlyRefused: Set<DeliveryKey> = []

    /// How many different problems are kept.
    private static let problemLimit = 20

    /// Whether servers could not be reached: at least one connection failed, and nothing was delivered.
    public var isOutage: Bool {
        delivered == 0 && partlySettled.isEmpty
            && undelivered.keys.contains { $0.code == UndeliveredReason.Code.noAnswer.rawValue }
    }

    /// Counts an upload that was tried, and what became of it.
    /// - Parameters:
    ///   - abortReason: Why no further attempt was made, if that is not the server's answer.
    ///   - account: whose credential it was sent with.
    mutating func count(
        _ send: PlannedUpload, _ outcome: Outcome, _ abortReason: UndeliveredReason? = nil, account: Account,
        type: TypeName
    ) {
        requests += 1
        switch outcome {
        case .delivered(_, let note):
            settle(send)
            if let note { add(problem: "delivered: \(note)", type) }
        case .refused(let status, let reason):
            partlyRefused.insert(send.recordKey)
            settle(send)
            add(problem: "refused (\(status)): \(reason)", type)
        case .retryLater(let status, let reason):
            undelivered[abortReason ?? UndeliveredReason(type.system, status: status, reason), default: 0] += 1
            add(problem: "not delivered\(status.map { " (\($0))" } ?? ""): \(reason)", type)
        case .unknown(let reason):
            undelivered[UndeliveredReason(type.system, .perhapsDelivered, reason), default: 0] += 1
            add(problem: "perhaps delivered: \(reason)", type)
        case .credentialWrong(let status, let reason, _):
            undelivered[UndeliveredReason(type.system, .credentialRefused, reason), default: 0] += 1
            wrongCredentials.insert(account)
            add(problem: "stopped (\(status)): \(reason)", type)
        }
    }

    /// Counts the record of an upload that was settled, if that was its last part.
    private mutating func settle(_ send: PlannedUpload) {
        guard send.completesRecord else {
            partlySettled.insert(send.recordKey)
            return
        }
        partlySettled.remove(send.recordKey)
        if partlyRefused.remove(send.recordKey) != nil || send.followsRefusal { refused += 1 } else { delivered += 1 }
    }

    /// Counts uploads that were planned and not tried.
    mutating func addUndelivered(_ uploads: Int, _ reason: UndeliveredReason) {
        if uploads > 0 { undelivered[reason, default: 0] += uploads }
    }

    private mutating func add(problem: String, _ type: TypeName) {
        let line = "\(type.system.description) \(type.name): \(problem)"
        if problems.count < Self.problemLimit, !problems.contains(line) { problems.append(line) }
    }
}
