import Mozilla
import Systems
import Telemetry
import TestSupport

@testable import Delivery

extension Sample {
    /// Creates a ping that may be uploaded.
    static func ping(
        _ id: String, type: String = "core", client: String? = "C", minute: Int? = 0, seq: Int = 1, held: [Hold] = []
    ) -> Record {
        Record(
            system: .mozilla, type: type, id: id, client: client, time: minute.map(time),
            target: Target(path: "/submit/telemetry/\(id)/\(type)/Focus/8.1.3/release/4236?v=4"),
            payload: Array(#"{"seq":\#(seq)}"#.utf8), source: source, held: held)
    }

    /// Returns a pool in which each record is in a separate segment of one bundle.
    static func pool(
        _ records: [Record], knowing systems: SystemTable = Systems.table,
        isReleased: @escaping @Sendable (String, String) -> Bool = { _, _ in false }
    ) -> CandidatePool {
        pool(bundles: [BundleContents(records)], knowing: systems, isReleased: isReleased)
    }

    /// The records and withdrawals of a bundle.
    struct BundleContents {
        var records: [Record]
        var withdrawals: [Withdrawal]

        init(_ records: [Record], _ withdrawals: [Withdrawal] = []) {
            (self.records, self.withdrawals) = (records, withdrawals)
        }
    }

    /// Returns a pool in which each record is in a separate segment of its bundle.
    static func pool(
        bundles: [BundleContents], knowing systems: SystemTable = Systems.table,
        isReleased: @escaping @Sendable (String, String) -> Bool = { _, _ in false }
    ) -> CandidatePool {
        var pool = CandidatePool(knowing: systems)
        for (bundle, contents) in bundles.enumerated() {
            for (segment, record) in contents.records.enumerated() {
                var notes = CandidateNotes(knowing: systems, isReleased: isReleased)
                notes.add(record, RecordKey(record), 0..<10)
                let client = UInt32(pool.names.clients.number(of: record.client, system: record.system))
                pool.add(notes, clients: [client], bundle: bundle, segment: segment)
            }
            for withdrawal in contents.withdrawals { pool.add(withdrawal) }
        }
        return pool
    }
}

extension Plan {
    /// All uploads of the plan.
    var sends: [PlannedUpload] { queues.flatMap(\.sends) }
}

extension LedgerError {
    /// A name for the case of the error.
    var caseName: String {
        switch self {
        case .locked: "locked"
        case .damaged: "damaged"
        case .notALedger: "notALedger"
        case .notAFile: "notAFile"
        case .multipleNames: "multipleNames"
        case .unsupportedVersion: "unsupportedVersion"
        case .missing: "missing"
        case .older: "older"
        case .damagedCounter: "damagedCounter"
        case .removed: "removed"
        case .file(let error): "file \(error.code)"
        case .storage(_, _, let isFull): isFull ? "full" : "storage"
        }
    }
}

extension LedgerView {
    /// Returns the overview of a ledger with records of the known systems.
    func overview(today: Int) throws(LedgerError) -> LedgerOverview {
        try overview(today: today, knowing: Systems.table)
    }
}

extension Ledger {
    /// Marks uploads as in flight, and returns for each whether it may be sent.
    func mark(_ sends: [PlannedUpload], at now: Timestamp) async throws -> [Bool] {
        var results: [Bool] = []
        for send in sends { results.append(try await commit(settling: nil, marking: send, at: now)) }
        return results
    }

    /// Settles uploads concurrently.
    func settle(_ settlements: [Settlement], at now: Timestamp) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for settlement in settlements {
                group.addTask { try await self.commit(settling: settlement, marking: nil, at: now) }
            }
        }
    }
}
