import Telemetry

/// How far a record of a bundle has come.
public enum RecordStatus: Sendable, Equatable {
    /// All of it was delivered, in this or in another bundle.
    case delivered
    /// It is not to be sent any more: an operator gave it up, or its client asked for its data to be deleted.
    case excluded
    /// A server refused it with this answer, and nobody has settled that.
    case refused(String)
    /// It is held, for these codes.
    case held([String])
    /// It was in flight when a job ended, and nothing more is known.
    case inFlight
    /// It waits for a later job, for the reason that the last one had.
    case waiting(WaitReason)

    /// Returns how far each record of a pool has come, in their order. `last` are the findings of the last job that saw them.
    public static func all(
        of pool: CandidatePool, _ state: LedgerState, _ recorded: RecordedReasons = RecordedReasons()
    ) -> [RecordStatus] {
        let deleted = Planner.deletedClients(pool, state)
        let inFlight = Set(state.inFlight.keys.map(\.identity))
        return pool.candidates.enumerated().map { index, candidate in
            switch state.history(of: index).outcome {
            case .delivered: return .delivered
            case .refused: return .refused(recorded.refusalAnswers[candidate.key] ?? "")
            case .givenUp: return .excluded
            case .none: break
            }
            if deleted[Int(candidate.client)], !pool.takesPrecedence(candidate.type) { return .excluded }
            if let holds = candidate.holds { return .held(pool.names.holds[holds]) }
            if let items = candidate.items {
                if items.allSatisfy({ state.isDelivered(item: $0) }) { return .delivered }
                if inFlight.contains(candidate.key.identity) { return .inFlight }
            } else if state.inFlight[candidate.key] != nil {
                return .inFlight
            }
            // What was held for the last job and is not any more was not tried since.
            guard let reason = recorded.waitReasons[candidate.key], reason.code != Disposition.held.code else {
                return .waiting(.notSent)
            }
            return .waiting(reason)
        }
    }

    /// Why the record is not delivered; nil where it was, or is not to be.
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

/// What jobs found of records that are not delivered, as a ledger keeps it.
public struct RecordedReasons: Sendable {
    /// Why records wait.
    public var waitReasons: [DeliveryKey: WaitReason] = [:]
    /// The answers to refused records: `400 no such user`.
    public var refusalAnswers: [DeliveryKey: String] = [:]

    /// Knows nothing.
    public init() {}
}
