import Bytes
import Telemetry

/// The delivery status of a record in a bundle.
public enum RecordStatus: Sendable, Equatable {
    /// The record was delivered completely, from this or another bundle.
    case delivered
    /// The record is not sent, because the operator gave it up, its client or profile requested the deletion of its
    /// data, or the server accepts no more uploads of the client.
    case excluded
    /// A server refused the record with the given answer, and the operator has not resolved the refusal.
    case refused(String)
    /// The record is held for the given hold codes.
    case held([String])
    /// The record is in flight, and its outcome is unknown.
    case inFlight
    /// The record waits for a later job, for the given reason.
    case waiting(WaitReason)

    /// The reason why the record is not delivered, or `nil` if it was delivered or is excluded.
    public var reason: WaitReason? {
        switch self {
        case .delivered, .excluded: nil
        case .refused(let answer): WaitReason(.refused, detail: answer.isEmpty ? nil : answer)
        case .held(let codes): WaitReason(.held, detail: codes.joined(separator: ", "))
        case .inFlight: .inFlight
        case .waiting(let reason): reason
        }
    }
}

/// The delivery status of each record of a pool.
///
/// Copies of a record have the same status.
public struct PoolStatus: Sendable {
    /// The records of all bundles.
    public let pool: CandidatePool
    /// The status of each record, in the order of the pool.
    public let records: [RecordStatus]
    private let decisions: PoolDecisions

    /// Determines the status of the records of `pool` from the state of the ledger and its stored reasons.
    public init(of pool: CandidatePool, _ state: LedgerState, _ recorded: RecordedReasons = RecordedReasons()) {
        let decisions = PoolDecisions(pool, state)
        let inFlight = Set(state.inFlight.keys.map(\.identity))
        (self.pool, self.decisions) = (pool, decisions)
        records = pool.candidates.enumerated().map { index, candidate in
            switch state.history(of: index).outcome {
            case .delivered: return .delivered
            case .refused: return .refused(recorded.refusalAnswers[candidate.key] ?? "")
            case .givenUp: return .excluded
            case nil: break
            }
            let copy = decisions.usedCopy(of: index)
            if decisions.isDeletionRequested(copy) { return .excluded }
            let holds = decisions.holdCodes(of: copy)
            if !holds.isEmpty { return .held(holds.map(\.string)) }
            if let items = candidate.itemIndices {
                if items.allSatisfy({ state.isDelivered(item: $0) }) { return .delivered }
                if inFlight.contains(candidate.key.identity) { return .inFlight }
            } else if state.inFlight[candidate.key] != nil {
                return .inFlight
            }
            // A record that was held in the last job but is no longer held has not been attempted since.
            guard let reason = recorded.waitReasons[candidate.key], reason.code != Disposition.held.code else {
                return .waiting(.notSent)
            }
            return .waiting(reason)
        }
    }

    /// Returns the withdrawal or the copy because of which the record at `index` is not sent, or `nil` for other
    /// reasons.
    public func decidingFact(of index: Int) -> DecidingFact? {
        switch records[index] {
        case .held, .excluded: decisions.decidingFact(of: index)
        case .delivered, .refused, .inFlight, .waiting: nil
        }
    }
}

/// The reasons why records are not delivered, as stored in a ledger.
public struct RecordedReasons: Sendable {
    /// The reasons why records wait, by record key.
    public var waitReasons: [RecordKey: WaitReason] = [:]
    /// The servers' answers to refused records, such as `400 no such user`.
    public var refusalAnswers: [RecordKey: String] = [:]
    /// The last answers to undelivered records, by record key.
    var lastAnswers: [RecordKey: FailureAnswer] = [:]

    /// Creates an empty collection of reasons.
    public init() {}

    /// Returns the last answer to an upload of the record at `index`, or `nil` if none has failed since it was settled.
    public func lastAnswer(ofRecordAt index: Int, in pool: CandidatePool) -> FailureAnswer? {
        lastAnswers[pool.candidates[index].key]
    }
}

/// The delivery status of one bundle: whether it is done, and the number of its records in each state.
///
/// A bundle is done if no job could send any more of its records. Held records and those that are too old do not matter,
/// because no job sends them. A bundle with refused records is not done, because the operator can retry these records or give them up.
public struct BundleStatus: Sendable {
    /// The path and digest of the bundle.
    public let name: BundleName
    /// The number of records in the bundle.
    public private(set) var recordCount = 0
    /// The number of records that were delivered completely, from this or another bundle.
    public private(set) var deliveredCount = 0
    /// The number of records that will never be sent, as described in ``RecordStatus/excluded``.
    public private(set) var excludedCount = 0
    /// The number of refused records, by the server's answer, such as `400 no such user`.
    public private(set) var refusedCounts: [CapturedText: Int] = [:]
    /// The number of records in flight whose outcome is unknown.
    public private(set) var inFlightCount = 0
    /// The number of held records for each of their hold codes.
    public private(set) var heldCounts: [CapturedText: Int] = [:]
    /// The number of records that wait for a later job, by reason.
    public private(set) var waitingCounts: [WaitReason: Int] = [:]
    /// The number of records that were too old for the last job.
    public private(set) var tooOldCount = 0
    /// The number of records for each withdrawal or copy because of which they are not sent.
    public private(set) var factCounts: [DecidingFact: Int] = [:]

    /// Whether no job could send any more records of the bundle.
    public var isDone: Bool { refusedCounts.isEmpty && inFlightCount == 0 && waitingCounts.isEmpty }

    /// Whether later jobs can send the remaining records without action by the operator.
    public var canFinishUnattended: Bool {
        refusedCounts.isEmpty && waitingCounts.keys.allSatisfy { !Self.operatorActionCodes.contains($0.code) }
    }

    private static let operatorActionCodes = Set(
        texts: [Disposition.setAside.code, Disposition.missingCredential.code])

    /// Returns the status of each bundle of a pool.
    public static func allStatuses(of status: PoolStatus) -> [BundleStatus] {
        var bundles = status.pool.bundles.map { BundleStatus(name: $0) }
        for (index, candidate) in status.pool.candidates.enumerated() {
            let bundle = Int(candidate.location.bundleIndex)
            guard bundles.indices.contains(bundle) else { continue }
            bundles[bundle].count(status.records[index])
            if let fact = status.decidingFact(of: index) { bundles[bundle].factCounts[fact, default: 0] += 1 }
        }
        return bundles
    }

    private init(name: BundleName) { self.name = name }

    private mutating func count(_ status: RecordStatus) {
        recordCount += 1
        switch status {
        case .delivered: deliveredCount += 1
        case .excluded: excludedCount += 1
        case .refused(let answer): refusedCounts[answer, default: 0] += 1
        case .held(let codes): for code in codes { heldCounts[code, default: 0] += 1 }
        case .inFlight: inFlightCount += 1
        case .waiting(let reason) where reason.code == Disposition.tooOld.code: tooOldCount += 1
        case .waiting(let reason): waitingCounts[reason, default: 0] += 1
        }
    }
}
