import Telemetry

/// The delivery status of a record in a bundle.
public enum RecordStatus: Sendable, Equatable {
    /// The record was delivered completely, from this or another bundle.
    case delivered
    /// The record is not sent, because the operator gave it up, its client requested the deletion of its data, or the
    /// server accepts no more uploads of the client.
    case excluded
    /// A server refused the record with the given answer, and the operator has not resolved the refusal.
    case refused(String)
    /// The record is held for the given hold codes.
    case held([String])
    /// The record is in flight, and its outcome is unknown.
    case inFlight
    /// The record waits for a later job, for the given reason.
    case waiting(WaitReason)

    /// Returns the status of each record of a pool, in the order of the pool.
    public static func allStatuses(
        of pool: CandidatePool, _ state: LedgerState, _ recorded: RecordedReasons = RecordedReasons()
    ) -> [RecordStatus] {
        let deleted = Planner.deletionRequests(pool, state)
        let inFlight = Set(state.inFlight.keys.map(\.identity))
        return pool.candidates.enumerated().map { index, candidate in
            switch state.history(of: index).outcome {
            case .delivered: return .delivered
            case .refused: return .refused(recorded.refusalAnswers[candidate.key] ?? "")
            case .givenUp: return .excluded
            case .none: break
            }
            if deleted[Int(candidate.clientIndex)], !pool.takesPrecedence(typeIndex: candidate.typeIndex) {
                return .excluded
            }
            if let holds = candidate.holdsIndex { return .held(pool.names.holds[holds]) }
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

/// The reasons why records are not delivered, as stored in a ledger.
public struct RecordedReasons: Sendable {
    /// The reasons why records wait, by record key.
    public var waitReasons: [DeliveryKey: WaitReason] = [:]
    /// The servers' answers to refused records, such as `400 no such user`.
    public var refusalAnswers: [DeliveryKey: String] = [:]

    /// Creates an empty collection of reasons.
    public init() {}
}
