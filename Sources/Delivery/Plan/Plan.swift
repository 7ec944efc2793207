import Bytes
import Telemetry

/// The decision of a job about a record.
public enum Disposition: Sendable, CaseIterable {
    /// The record is sent.
    case send
    /// Some parts of a list are sent, and the other parts wait for a later job because of the limits.
    case sendPart
    /// A list has no events left to send, so it is settled without a request.
    case settle
    /// The record waits for another day, because the daily limit is reached.
    case dailyLimit
    /// The record waits for another job, because this job has reached the limit for the record's type.
    case typeLimit
    /// The record waits, because another payload with its id is sent by this job or was sent in the last 15 minutes.
    case sameIDSentRecently
    /// The record waits for a credential.
    case missingCredential
    /// The record waits, because its server requested a pause.
    case serverPause
    /// The record is held and must not be sent.
    case held
    /// The record is older than the maximum age, and is not sent.
    case tooOld
    /// The record waits for the operator, because it alone failed with server errors in several jobs.
    case setAside
    /// The record is not sent any more, because its client requested the deletion of its data, or because the server
    /// accepts no more uploads of the client.
    case deletionRequested
    /// The record was delivered before.
    case delivered
    /// The record was refused before.
    case refused
    /// The record is not sent, because an identical record in the bundles is used instead.
    case duplicate
    /// Other requests of this job contain all remaining events of the list.
    case overlapping
    /// The operator gave up the record.
    case givenUp

    /// The stable code in JSON output, metrics and the ledger.
    public var code: String {
        // A raw value would slow down dictionaries, because the string would be hashed for each key.
        switch self {
        case .send: "send"
        case .sendPart: "sent-in-part"
        case .settle: "nothing-left"
        case .dailyLimit: "daily-limit"
        case .typeLimit: "per-type-limit"
        case .sameIDSentRecently: "same-id-lately"
        case .missingCredential: "missing-credential"
        case .serverPause: "server-pause"
        case .held: "held"
        case .tooOld: "too-old"
        case .setAside: "set-aside"
        case .deletionRequested: "deletion-requested"
        case .delivered: "delivered-before"
        case .refused: "refused-before"
        case .duplicate: "duplicate"
        case .overlapping: "events-in-another-request"
        case .givenUp: "given-up"
        }
    }

    /// The name in summaries, which usually consists of the words of the code.
    public var name: String {
        switch self {
        case .typeLimit: "per-type limit"
        case .sameIDSentRecently: "same id sent lately"
        case .serverPause: "server asked to wait"
        case .deletionRequested: code
        case .send, .sendPart, .settle, .dailyLimit, .missingCredential, .held, .tooOld, .setAside, .delivered,
            .refused, .duplicate, .overlapping, .givenUp:
            code.replacing("-", with: " ")
        }
    }

    /// Whether a later job may send the record without action by the operator.
    public var isDeferred: Bool {
        switch self {
        case .sendPart, .dailyLimit, .typeLimit, .sameIDSentRecently, .overlapping, .serverPause: true
        case .send, .settle, .missingCredential, .held, .tooOld, .setAside, .deletionRequested, .delivered, .refused,
            .duplicate, .givenUp:
            false
        }
    }

    /// Whether a later job may send the record, possibly after action by the operator.
    public var isWaiting: Bool {
        switch self {
        case .missingCredential, .held, .tooOld, .setAside: true
        case .send, .sendPart, .settle, .dailyLimit, .typeLimit, .sameIDSentRecently, .serverPause, .deletionRequested,
            .delivered, .refused, .duplicate, .overlapping, .givenUp:
            isDeferred
        }
    }
}

extension Disposition {
    /// Whether the record is not sent if the server ends its client.
    fileprivate var dependsOnClient: Bool {
        switch self {
        case .send, .sendPart, .dailyLimit, .typeLimit, .sameIDSentRecently, .missingCredential, .serverPause, .held,
            .tooOld, .setAside, .overlapping:
            true
        case .settle, .deletionRequested, .delivered, .refused, .duplicate, .givenUp: false
        }
    }
}

/// A record that has no events left to send.
public struct EmptySettlement: Sendable, Hashable {
    /// The key of the record in the ledger.
    public let key: DeliveryKey
    /// The index of the client in ``PlanNames/clients``.
    public let clientIndex: UInt32
    /// The index of the type in ``PlanNames/types``.
    public let typeIndex: UInt32
}

/// A type and a disposition, used as a key for counting records.
public struct DispositionGroup: Sendable, Hashable {
    /// The index of the type in ``PlanNames/types``.
    public let typeIndex: UInt32
    /// The disposition of the records.
    public let disposition: Disposition
    /// The index of the hold codes or of the missing account, or `nil` for other dispositions.
    public let detailIndex: UInt32?
    /// The withdrawals because of which the records are held.
    let withdrawals: WithdrawalKinds
}

/// The decisions of a job: the uploads in order, and the reason why any other record is not sent.
public struct Plan: Sendable {
    /// The records of the plan.
    public let pool: CandidatePool
    /// The uploads of each client, with the clients in the order of their first records in the bundles.
    public internal(set) var queues: ClientQueues
    /// The records that are settled without a request.
    public internal(set) var settlements: [EmptySettlement] = []
    /// The number of records in each group.
    public internal(set) var groupCounts: [DispositionGroup: Int] = [:]
    /// The disposition of each record, in the order of the bundles.
    public internal(set) var dispositions: [Disposition] = []
    /// The pauses in effect for the servers to which records of the plan would be sent.
    public internal(set) var pauses: [Pause] = []
    private let decisions: PoolDecisions
    /// The rules that the plan follows.
    public let rules: PlanRules
    /// The time for which the plan was made.
    public let now: Timestamp

    init(_ decisions: PoolDecisions, rules: PlanRules, now: Timestamp) {
        (self.decisions, self.rules, self.now) = (decisions, rules, now)
        pool = decisions.pool
        queues = ClientQueues(of: pool)
    }

    /// The names to which the indices in the plan refer.
    public var names: PlanNames { pool.names }

    /// The number of uploads, including each part of a split record.
    public var uploadCount: Int { queues.uploadCount }

    /// The keys of the records that are sent only in part, because their other parts wait for a later job.
    public var recordsSentInPart: Set<DeliveryKey> {
        let parts = queues.lazy.flatMap { $0.sends.filter { !$0.isWhole } }
        return Set(parts.map(\.recordKey)).subtracting(parts.filter(\.completesRecord).map(\.recordKey))
    }

    /// Returns the number of records with the given `disposition`.
    public func count(_ disposition: Disposition) -> Int {
        groupCounts.reduce(0) { $0 + ($1.key.disposition == disposition ? $1.value : 0) }
    }
}

extension Plan {
    /// Returns this plan without the unsettled records of the clients that a server ended during the job.
    ///
    /// Later plans withhold these records, too. Their uploads are removed, and they are counted as
    /// ``Disposition/deletionRequested``.
    public func withholdingRecords(ofClientsEndedIn report: JobReport) -> Plan {
        guard !report.endedClients.isEmpty else { return self }
        var plan = self
        let typeTakesPrecedence = names.types.values.indices.map { pool.takesPrecedence(typeIndex: UInt32($0)) }
        // The number of settled records of each ended client and type. These records keep their disposition.
        var settled = report.endedClients
        for (index, candidate) in pool.candidates.enumerated() {
            let (client, type) = (candidate.clientIndex, candidate.typeIndex)
            guard settled[client] != nil, dispositions[index].dependsOnClient, !typeTakesPrecedence[Int(type)] else {
                continue
            }
            if dispositions[index] == .send, let left = settled[client]?[type], left > 0 {
                settled[client]?[type] = left - 1
            } else {
                plan.withhold(recordAt: index)
            }
        }
        plan.queues.removeAll {
            report.endedClients[$0.clientIndex] != nil && !typeTakesPrecedence[Int($0.typeIndex)]
        }
        return plan
    }

    private mutating func withhold(recordAt index: Int) {
        groupCounts[group(ofRecordAt: index), default: 0] -= 1
        dispositions[index] = .deletionRequested
        groupCounts[group(ofRecordAt: index), default: 0] += 1
        groupCounts = groupCounts.filter { $0.value > 0 }
    }

    /// Returns the indices of the client and the type of the record at `index`.
    public func clientAndType(ofRecordAt index: Int) -> (client: UInt32, type: UInt32) {
        (pool.candidates[index].clientIndex, pool.candidates[index].typeIndex)
    }

    /// The number of planned uploads of each record.
    public var uploadCountsByRecord: [UInt32] { queues.uploadCountsByRecord }

    /// Returns the group of the record at `index`.
    public func group(ofRecordAt index: Int) -> DispositionGroup {
        let (candidate, disposition) = (pool.candidates[index], dispositions[index])
        let detailIndex: UInt32? =
            switch disposition {
            case .held: candidate.holdsIndex
            case .missingCredential: candidate.accountIndex
            default: nil
            }
        return DispositionGroup(
            typeIndex: candidate.typeIndex, disposition: disposition, detailIndex: detailIndex,
            withdrawals: disposition == .held ? decisions.withdrawals.holds(of: index) : [])
    }

    /// Returns the codes for which the record at `index` is held and has not been released.
    public func holds(of index: Int) -> [String] { decisions.holdCodes(of: index) }

    /// Returns the withdrawal or the copy because of which the record at `index` is not sent, or `nil` for other
    /// reasons.
    public func decidingFact(of index: Int) -> DecidingFact? {
        switch dispositions[index] {
        case .held, .deletionRequested: decisions.withdrawalFact(of: index)
        case .duplicate: decisions.copyFact(of: index)
        case .send, .sendPart, .settle, .dailyLimit, .typeLimit, .sameIDSentRecently, .missingCredential, .serverPause,
            .tooOld, .setAside, .delivered, .refused, .overlapping, .givenUp:
            nil
        }
    }

    /// The number of records for each withdrawal or copy because of which they are not sent.
    public var decidingFactCounts: [DecidingFact: Int] {
        dispositions.indices.lazy.compactMap(decidingFact(of:)).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    /// The number of records that are not sent, by reason.
    public var reasonCounts: [WaitReason: Int] {
        var counts: [WaitReason: Int] = [:]
        for (group, count) in groupCounts where group.disposition != .send {
            counts[reason(of: group), default: 0] += count
        }
        return counts
    }

    /// The accounts whose credentials are missing, and the number of records that wait for each.
    public var missingCredentials: [(account: Account, records: Int)] {
        var counts: [UInt32: Int] = [:]
        for (group, count) in groupCounts where group.disposition == .missingCredential {
            if let account = group.detailIndex { counts[account, default: 0] += count }
        }
        return counts.sorted { $0.key < $1.key }.map { (names.accounts[$0.key], $0.value) }
    }

    /// The number of held records for each of their hold codes.
    public var holdCounts: [CapturedText: Int] {
        var counts: [CapturedText: Int] = [:]
        for (group, count) in groupCounts where group.disposition == .held {
            for code in holdCodes(of: group) { counts[code, default: 0] += count }
        }
        return counts
    }

    /// Returns the reason why the records of a group are not sent, with their hold codes or missing account.
    public func reason(of group: DispositionGroup) -> WaitReason {
        switch (group.disposition, group.detailIndex) {
        case (.held, _): WaitReason(group.disposition, detail: holdCodes(of: group).joined(separator: ", "))
        case (.missingCredential, let index?): WaitReason(group.disposition, detail: names.accounts[index].label)
        default: WaitReason(group.disposition)
        }
    }

    private func holdCodes(of group: DispositionGroup) -> [String] {
        names.holdCodes(group.detailIndex, adding: group.withdrawals)
    }

    /// Returns the reason why the record at `index` is not sent.
    func reason(of index: Int) -> WaitReason { reason(of: group(ofRecordAt: index)) }
}
