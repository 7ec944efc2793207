import Bytes
import JSONText
import SQLite
import Telemetry

/// The outcome of a record in a delivery receipt: its status, and the answer that settled it.
public struct RecordOutcome: Sendable, Equatable {
    /// The status of the record.
    public let status: RecordStatus
    /// The answer that settled the record, or `nil` if the ledger does not list the record as delivered or refused.
    public let answer: SettlingAnswer?

    /// Creates the outcome of a record from its status and the answer that settled it.
    public init(_ status: RecordStatus, answer: SettlingAnswer? = nil) {
        self.status = status
        self.answer = answer
    }

    /// The group in which a delivery receipt counts the record.
    var group: OutcomeGroup {
        OutcomeGroup(name: status.name, reason: status.receiptReason, httpStatus: answer?.httpStatus)
    }
}

/// The answer from a server that settled a record.
public struct SettlingAnswer: Sendable, Equatable {
    /// The HTTP status, or `nil` if other requests had delivered all events of the record.
    public let httpStatus: Int?
    /// The time at which the record was settled, in whole seconds, or `nil` if the stored time is invalid.
    public let time: Timestamp?

    /// Creates an answer from the values that the ledger contains.
    public init(httpStatus: Int?, time: Timestamp?) {
        self.httpStatus = httpStatus
        self.time = time
    }
}

/// The parts of an outcome by which a delivery receipt groups records to count them.
public struct OutcomeGroup: Sendable, Hashable {
    /// The names of statuses, in the order in which a summary lists them.
    public enum Name: String, Sendable, CaseIterable {
        case delivered, refused, held, waiting
        case inFlight = "in-flight"
        case excluded
    }

    /// The name of the status of the records.
    public let name: Name
    /// The hold codes of held records, the code and detail of waiting records, or `nil` for other records.
    @OptionalCapturedText public private(set) var reason: String?
    /// The HTTP status of the answer, or `nil` if no answer settled the records.
    public let httpStatus: Int?

    /// Sets the members that describe the outcome.
    func add(to object: inout CanonicalObject) {
        object.set("outcome", string: name.rawValue)
        object.set("reason", string: reason)
        object.set("status", integer: httpStatus)
    }
}

extension OutcomeGroup: Comparable {
    /// Returns whether `left` is listed before `right`.
    public static func < (left: OutcomeGroup, right: OutcomeGroup) -> Bool {
        (left.name.rawValue, left.httpStatus ?? 0, CapturedText(left.reason ?? ""))
            < (right.name.rawValue, right.httpStatus ?? 0, CapturedText(right.reason ?? ""))
    }
}

extension RecordStatus {
    /// The name of the status in a delivery receipt.
    fileprivate var name: OutcomeGroup.Name {
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
                case .delivered, .refused: RecordOutcome(status, answer: try db.answer(settling: candidate.key))
                case .excluded, .held, .inFlight, .waiting: RecordOutcome(status)
                }
            }
        }
    }
}

extension Database {
    /// Returns the answer that settled a record, or `nil` if the record is not settled.
    fileprivate func answer(settling key: RecordKey) throws -> SettlingAnswer? {
        var answer: SettlingAnswer?
        try rows("SELECT status, time FROM settled WHERE identity = ? AND content = ?", [key.identity, key.content]) {
            row in
            let status: Int = row[0]
            // A list whose events were delivered by other requests has the status 0.
            answer = SettlingAnswer(httpStatus: status == 0 ? nil : status, time: Timestamp(seconds: row[1]))
        }
        return answer
    }
}
