import Telemetry

/// What a job does with a record. Each record has exactly one disposition.
public enum Disposition: Sendable, CaseIterable {
    /// It is sent.
    case send
    /// Some parts of its list are sent; the rest waits for another job, for the limits allow no more.
    case sendPart
    /// Nothing of its list is left to send: it is settled without a request.
    case settle
    /// It waits for another day, for its client's quota of today is used up.
    case dailyLimit
    /// It waits for another job, for this one has enough of its type.
    case typeLimit
    /// It waits, for its id was sent with another payload less than 15 minutes ago, or is in this job.
    case sameIDSentRecently
    /// It waits for a credential.
    case missingCredential
    /// It waits, for its server asked to be left alone for a while.
    case serverPause
    /// It must not be sent as it stands.
    case held
    /// It is older than wanted.
    case tooOld
    /// It is not sent any more, for its client asked that its data be deleted.
    case deletionRequested
    /// It was delivered before.
    case delivered
    /// It was refused before.
    case refused
    /// The same record stands in these bundles more than once.
    case duplicate
    /// Other requests of this job carry all that its list has.
    case overlapping
    /// It was not delivered, and somebody decided that it never will be.
    case givenUp

    /// The code in `--json`, in metrics and in the ledger.
    ///
    /// It is not a raw value, because dispositions of all records are counted in dictionaries, and a raw value is hashed as a string.
    public var code: String {
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
        case .deletionRequested: "deletion-requested"
        case .delivered: "delivered-before"
        case .refused: "refused-before"
        case .duplicate: "duplicate"
        case .overlapping: "events-in-another-request"
        case .givenUp: "given-up"
        }
    }

    /// The name in summaries: the words of the code, unless the name is another one.
    public var name: String {
        switch self {
        case .typeLimit: "per-type limit"
        case .sameIDSentRecently: "same id sent lately"
        case .serverPause: "server asked to wait"
        case .deletionRequested: code
        case .send, .sendPart, .settle, .dailyLimit, .missingCredential, .held, .tooOld, .delivered, .refused,
            .duplicate, .overlapping, .givenUp:
            code.replacing("-", with: " ")
        }
    }

    /// Whether the record may go in a later job without anybody doing anything.
    public var isDeferred: Bool {
        switch self {
        case .sendPart, .dailyLimit, .typeLimit, .sameIDSentRecently, .overlapping, .serverPause: true
        case .send, .settle, .missingCredential, .held, .tooOld, .deletionRequested, .delivered, .refused, .duplicate,
            .givenUp:
            false
        }
    }

    /// Whether the record may still be sent one day, by itself or after somebody does something.
    public var isWaiting: Bool {
        switch self {
        case .missingCredential, .held, .tooOld: true
        case .send, .sendPart, .settle, .dailyLimit, .typeLimit, .sameIDSentRecently, .serverPause, .deletionRequested,
            .delivered, .refused, .duplicate, .overlapping, .givenUp:
            isDeferred
        }
    }
}

/// One upload.
public struct PlannedUpload: Sendable, Hashable {
    /// The key by which the ledger knows this upload.
    public let key: DeliveryKey
    /// The key by which the ledger knows the whole record.
    public let recordKey: DeliveryKey
    /// The number of its client among the plan's names.
    public let client: UInt32
    /// The number of its type.
    public let type: UInt32
    /// The number of the account whose credential it needs.
    public let account: UInt32?
    /// Where its record stands.
    public let location: RecordLocation
    /// The items of its list that it carries; empty for a record that is no list.
    public let items: [SentItem]
    /// Whether the record is sent as it stands.
    public let isWhole: Bool
    /// Whether, once it is settled, all of its record was sent.
    public let completesRecord: Bool
    /// Whether an earlier job had another part of its record refused.
    public let followsRefusal: Bool
}

/// The uploads of one client, in the order in which they are sent.
public struct ClientQueue: Sendable {
    /// The number of the client among the plan's names.
    public let client: UInt32
    /// Its uploads.
    public internal(set) var sends: [PlannedUpload]
}

/// A record of which nothing is left to send.
public struct EmptySettlement: Sendable, Hashable {
    /// The key by which the ledger knows it.
    public let key: DeliveryKey
    /// The number of its client.
    public let client: UInt32
    /// The number of its type.
    public let type: UInt32
}

/// How many records of a client and type have a disposition.
public struct DispositionGroup: Sendable, Hashable {
    /// The number of the client.
    public let client: UInt32
    /// The number of the type.
    public let type: UInt32
    /// What the job does with them.
    public let disposition: Disposition
    /// What holds them, or the number of the account that they wait for.
    public let detail: UInt32?
}

/// What a job does: what it sends, in order, and what waits, each with its reason.
public struct Plan: Sendable {
    /// The records that it was made of.
    public let pool: CandidatePool
    /// The uploads by client, in the order of the clients' first records in the bundles.
    public internal(set) var queues: [ClientQueue] = []
    /// Records that are settled without being sent.
    public internal(set) var settlements: [EmptySettlement] = []
    /// All records, counted.
    public internal(set) var groups: [DispositionGroup: Int] = [:]
    /// The disposition of each record, in the order of the bundles.
    public internal(set) var dispositions: [Disposition] = []
    /// The wishes of servers to be left alone that are in force and concern these records.
    public internal(set) var pauses: [Pause] = []
    /// The rules by which the plan was made.
    public let rules: PlanRules
    /// When it was made for.
    public let now: Timestamp

    /// The names that numbers in the plan stand for.
    public var names: PlanNames { pool.names }

    /// How many uploads there are: a record that is split counts several times.
    public var uploads: Int { queues.reduce(0) { $0 + $1.sends.count } }

    /// Records of which some parts are sent, and the rest waits for another job.
    public var recordsSentInPart: Set<DeliveryKey> {
        let parts = queues.flatMap { $0.sends.filter { !$0.isWhole } }
        return Set(parts.map(\.recordKey)).subtracting(parts.filter(\.completesRecord).map(\.recordKey))
    }

    /// How many records have a disposition.
    public func count(_ disposition: Disposition) -> Int {
        groups.reduce(0) { $0 + ($1.key.disposition == disposition ? $1.value : 0) }
    }
}

extension Plan {
    /// Records that are not sent, counted by reason.
    public var reasons: [WaitReason: Int] {
        var reasons: [WaitReason: Int] = [:]
        for (group, count) in groups where group.disposition != .send {
            reasons[reason(of: group), default: 0] += count
        }
        return reasons
    }

    /// Accounts for whose credential records wait, and how many do.
    public var missingCredentials: [(account: Account, records: Int)] {
        var counts: [UInt32: Int] = [:]
        for (group, count) in groups where group.disposition == .missingCredential {
            if let account = group.detail { counts[account, default: 0] += count }
        }
        return counts.sorted { $0.key < $1.key }.map { (names.accounts[$0.key], $0.value) }
    }

    /// Held records by code; one that is held for several reasons counts for each.
    public var holds: [String: Int] {
        var holds: [String: Int] = [:]
        for (group, count) in groups where group.disposition == .held {
            for code in group.detail.map({ names.holds[$0] }) ?? [] { holds[code, default: 0] += count }
        }
        return holds
    }

    /// Why records wait: what holds them, or whose credential is missing.
    public func reason(of group: DispositionGroup) -> WaitReason {
        reason(of: group.disposition, detail: group.detail)
    }

    /// Why a record, by its number in the order of the bundles, is not sent.
    func reason(of index: Int) -> WaitReason {
        let disposition = dispositions[index]
        return reason(of: disposition, detail: pool.detail(of: index, disposition))
    }

    private func reason(of disposition: Disposition, detail: UInt32?) -> WaitReason {
        switch (disposition, detail) {
        case (.held, let detail?): WaitReason(disposition, detail: names.holds[detail].joined(separator: ", "))
        case (.missingCredential, let detail?): WaitReason(disposition, detail: names.accounts[detail].label)
        default: WaitReason(disposition)
        }
    }
}
