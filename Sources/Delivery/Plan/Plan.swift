import Bundle
import Bytes
import Telemetry

/// The decisions of a job: the uploads in order, and the reason why any other record is not sent.
public struct Plan: Sendable {
    /// The records of the plan.
    public let pool: CandidatePool
    /// The uploads of each client, with the clients in the order of their first records in the bundles.
    public internal(set) var queues: ClientQueues
    /// The records that are settled without a request.
    var settlements: [Candidate] = []
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
    public var recordsSentInPart: Set<RecordKey> {
        let parts = queues.lazy.flatMap { $0.sends.filter { !$0.isWhole } }
        return Set(parts.map(\.record.key)).subtracting(parts.filter(\.completesRecord).map(\.record.key))
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
    public var uploadCountsByRecord: [Int] { queues.uploadCountsByRecord }

    /// Returns the group of the record at `index`.
    public func group(ofRecordAt index: Int) -> DispositionGroup {
        let disposition = dispositions[index]
        return DispositionGroup(
            typeIndex: pool.candidates[index].typeIndex, disposition: disposition,
            holds: disposition == .held ? decisions.holdCodes(of: index) : [],
            account: disposition == .missingCredential ? pool.account(of: index) : nil)
    }

    /// Returns the codes for which the record at `index` is held and has not been released.
    public func holds(of index: Int) -> [String] { decisions.holdCodes(of: index).map(\.string) }

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
        var counts: [Account: Int] = [:]
        for (group, count) in groupCounts {
            if let account = group.account { counts[account, default: 0] += count }
        }
        return pool.traits.values.compactMap { traits in
            traits.account.flatMap { account in counts.removeValue(forKey: account).map { (account, $0) } }
        }
    }

    /// The number of held records for each of their hold codes.
    public var holdCounts: [CapturedText: Int] {
        var counts: [CapturedText: Int] = [:]
        for (group, count) in groupCounts { for code in group.holds { counts[code, default: 0] += count } }
        return counts
    }

    /// Returns the reason why the records of a group are not sent, with their hold codes or missing account.
    public func reason(of group: DispositionGroup) -> WaitReason {
        let holds = group.disposition == .held ? group.holds.map(\.string).joined(separator: ", ") : nil
        return WaitReason(group.disposition, detail: holds ?? group.account?.label)
    }

    /// Returns the reason why the record at `index` is not sent.
    func reason(of index: Int) -> WaitReason { reason(of: group(ofRecordAt: index)) }
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

/// A type, a disposition and its details, used as a key for counting records.
public struct DispositionGroup: Sendable, Hashable {
    /// The index of the type in ``PlanNames/types``.
    public let typeIndex: UInt32
    /// The disposition of the records.
    public let disposition: Disposition
    /// The codes of held records, or an empty array for other dispositions.
    let holds: [CapturedText]
    /// The account whose credential is missing, or `nil` for other dispositions.
    let account: Account?
}

/// An upload in a plan: a record, or some events of a list.
public struct PlannedUpload: Sendable, Hashable {
    /// The record that is sent completely or in part.
    let record: Candidate
    /// The key of the upload in the ledger, which is the key of the record if the upload is whole.
    public let key: RecordKey
    /// The events in the upload, or an empty array if the record is not a list.
    public var items: [SentItem] = []
    /// Whether settling this upload completes the record.
    public var completesRecord = true
    /// Whether another part of the record was refused in an earlier job.
    var followsRefusal = false

    /// Whether the upload contains the whole record, unchanged.
    var isWhole: Bool { key == record.key }
}

extension PlannedUpload {
    /// Creates an upload of a whole record that is not a list.
    init(of record: Candidate) { self.init(record: record, key: record.key) }
}

/// The uploads of a plan, by client.
///
/// A queue is created when it is accessed, because the queues of 1,300,000 clients would use 350 MB of memory.
public struct ClientQueues: Sendable {
    private let pool: CandidatePool
    /// The indices of the records to send.
    private var records: [Int] = []
    /// The uploads of each list to send, by the index of the record.
    private var listUploads: [Int: [PlannedUpload]] = [:]
    /// The position in `records` of the first record of each queue, followed by the number of records.
    private var bounds = [0]

    init(of pool: CandidatePool) { self.pool = pool }

    /// The number of uploads of all clients.
    public var uploadCount: Int {
        // A sum does not depend on the order.
        listUploads.values.reduce(records.count) { $0 + $1.count - 1 }
    }

    /// Appends the upload of the record at `index`, which is not a list.
    mutating func append(recordAt index: Int) { records.append(index) }

    /// Appends an upload of the list at `index`, directly after the other uploads of that list.
    mutating func append(_ upload: PlannedUpload, ofListAt index: Int) {
        if listUploads[index] == nil { records.append(index) }
        listUploads[index, default: []].append(upload)
    }

    /// Divides the records into queues, in the order in which the clients first appear in the bundles.
    ///
    /// The records of a client stay in the order in which they were appended.
    mutating func sortByClient() {
        var counts = [Int](repeating: 0, count: pool.names.clients.count)
        for record in records { counts[clientIndex(of: record)] += 1 }
        bounds = [0]
        // The position at which the next record of each client is stored.
        var positions = [Int](repeating: 0, count: counts.count)
        for client in pool.candidates.lazy.map({ Int($0.clientIndex) }) where counts[client] > 0 {
            positions[client] = bounds[bounds.count - 1]
            bounds.append(positions[client] + counts[client])
            counts[client] = 0
        }
        var sorted = records
        for record in records {
            let client = clientIndex(of: record)
            sorted[positions[client]] = record
            positions[client] += 1
        }
        records = sorted
    }

    /// Removes the uploads of the records for which `isRemoved` returns `true`.
    mutating func removeAll(where isRemoved: (Candidate) -> Bool) {
        records.removeAll { isRemoved(pool.candidates[$0]) }
        listUploads = listUploads.filter { !isRemoved(pool.candidates[$0.key]) }
        sortByClient()
    }

    /// The number of uploads for each record of the pool.
    var uploadCountsByRecord: [Int] {
        var counts = [Int](repeating: 0, count: pool.count)
        for record in records { counts[record] = listUploads[record]?.count ?? 1 }
        return counts
    }

    private func clientIndex(of record: Int) -> Int { Int(pool.candidates[record].clientIndex) }
}

extension ClientQueues: RandomAccessCollection {
    /// The index of the first queue.
    public var startIndex: Int { 0 }
    /// The index after the last queue.
    public var endIndex: Int { bounds.count - 1 }

    /// Returns the queue at `index`.
    public subscript(index: Int) -> ClientQueue {
        let records = records[bounds[index]..<bounds[index + 1]]
        return ClientQueue(
            clientIndex: pool.candidates[records[records.startIndex]].clientIndex,
            sends: records.flatMap { listUploads[$0] ?? [PlannedUpload(of: pool.candidates[$0])] })
    }
}

/// The uploads of one client, in the order in which they are sent.
public struct ClientQueue: Sendable {
    /// The index of the client in ``PlanNames/clients``.
    public let clientIndex: UInt32
    /// The uploads of the client.
    public let sends: [PlannedUpload]
}
