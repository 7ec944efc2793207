import Bytes
import JSONText
import SQLite
import Telemetry

/// The outcome of a record in a delivery receipt: its status, and the answer that settled it.
public struct RecordOutcome: Sendable, Equatable {
    let status: RecordStatus
    /// The HTTP status of the answer that settled the record.
    ///
    /// The value is `nil` if the ledger does not list the record as delivered or refused, or if other requests had
    /// delivered all of its events.
    var httpStatus: Int?
    /// The time at which the record was settled, in whole seconds, or `nil` if it is not settled or the stored time is
    /// invalid.
    var time: Timestamp?

    /// The group in which a delivery receipt counts the record.
    var group: OutcomeGroup {
        OutcomeGroup(name: status.name, reason: status.receiptReason, httpStatus: httpStatus)
    }
}

/// The parts of an outcome by which a delivery receipt groups records to count them.
struct OutcomeGroup: Sendable, Hashable {
    /// The name of the status of the records.
    let name: OutcomeName
    /// The hold codes of held records, the code and detail of waiting records, or `nil` for other records.
    @OptionalCapturedText private(set) var reason: String?
    /// The HTTP status of the answer, or `nil` if no answer settled the records.
    let httpStatus: Int?

    /// Sets the members that describe the outcome.
    func add(to object: inout CanonicalObject) {
        object.set("outcome", name.rawValue)
        object.set("reason", reason)
        object.set("status", httpStatus)
    }
}

/// The names of statuses, in the order in which a summary lists them.
enum OutcomeName: String, Sendable, CaseIterable {
    case delivered, refused, held, waiting
    case inFlight = "in-flight"
    case excluded
}

extension OutcomeGroup: Comparable {
    /// Returns whether `left` is listed before `right`.
    static func < (left: OutcomeGroup, right: OutcomeGroup) -> Bool {
        (left.name.rawValue, left.httpStatus ?? 0, CapturedText(left.reason ?? ""))
            < (right.name.rawValue, right.httpStatus ?? 0, CapturedText(right.reason ?? ""))
    }
}

extension RecordStatus {
    /// The name of the status in a delivery receipt.
    fileprivate var name: OutcomeName {
        switch self {
        case .delivered: .delivered
        case .excluded: .excluded
        case .refused: .refused
        case .held: .held
        case .inFlight: .inFlight
        case .waiting: .waiting
        }
    }

    /// The reason in a delivery receipt, without text from the server, or `nil` if the status needs no reason.
    fileprivate var receiptReason: String? {
        switch self {
        case .delivered, .excluded, .refused, .inFlight: nil
        case .held(let codes): codes.joined(separator: ", ")
        case .waiting(let reason): reason.detail.map { "\(reason.code): \($0)" } ?? reason.code
        }
    }
}

extension LedgerView {
    /// Returns the outcomes of all records of `pool` at one moment, in the order of the pool.
    public func recordOutcomes(of pool: CandidatePool, today: Int) throws(LedgerError) -> [RecordOutcome] {
        try read { db in
            let status = PoolStatus(
                of: pool, try db.ledgerState(of: pool, today: today), try db.recordedReasons(of: pool))
            return try zip(pool.candidates, status.records).map { candidate, status in
                switch status {
                case .delivered, .refused: try db.outcome(status, settling: candidate.key)
                case .excluded, .held, .inFlight, .waiting: RecordOutcome(status: status)
                }
            }
        }
    }
}

extension Database {
    /// Returns the outcome of a record with the answer that settled it, if there is one.
    fileprivate func outcome(_ status: RecordStatus, settling key: RecordKey) throws -> RecordOutcome {
        var outcome = RecordOutcome(status: status)
        try rows("SELECT status, time FROM settled WHERE identity = ? AND content = ?", key.columns) {
            row in
            // A list whose events were delivered by other requests has the status 0.
            outcome.httpStatus = row[0] == 0 ? nil : row[0]
            outcome.time = Timestamp(seconds: row[1])
        }
        return outcome
    }
}
