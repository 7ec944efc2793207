import Bytes
import SQLite
import Telemetry

/// The storage of final withdrawals, which apply to all later jobs and are never removed.
extension Database {
    /// Stores final withdrawals, and applies the new ones to records that wait because of earlier jobs.
    ///
    /// The first capture in which a job found a withdrawal is kept.
    func store(_ withdrawals: [Withdrawal], knowing systems: SystemTable) throws {
        guard !withdrawals.isEmpty else { return }
        let exempt = Self.json(try typesWithPrecedence(systems))
        for withdrawal in withdrawals {
            let subject = withdrawal.subject
            let (system, id) = (subject.system.description, subject.id.lowercased.string)
            let count = try changeCount(
                running: "INSERT OR IGNORE INTO withdrawals VALUES (?, ?, ?, ?, ?, ?)",
                [
                    system, subject.kind.rawValue, id, withdrawal.reason.rawValue, withdrawal.capture,
                    withdrawal.path,
                ])
            guard count > 0, subject.kind == .client,
                let client: Int64 = try first("SELECT id FROM clients WHERE system = ? AND client = ?", [system, id])
            else { continue }
            switch withdrawal.reason {
            case .deletionRequested:
                try run(
                    "DELETE FROM waits WHERE client = ? AND kind NOT IN (SELECT value FROM json_each(?))",
                    [client, exempt])
            case .forgotten: try holdWaits(ofClient: client, for: withdrawal.reason.rawValue, exempt: exempt)
            case .optedOut: break  // Such a withdrawal is not final.
            }
        }
    }

    /// Adds the hold code `code` to the reasons why the records of a client wait, except for the types in `exempt`.
    private func holdWaits(ofClient client: Int64, for code: String, exempt: String) throws {
        var reasons: [(id: Int64, reason: WaitReason)] = []
        try rows(
            "SELECT DISTINCT reasons.id, code, detail FROM waits JOIN reasons ON reasons.id = reason WHERE client = ?",
            [client]
        ) { reasons.append(($0[0], WaitReason($0, at: 1))) }
        for (id, reason) in reasons where !reason.heldCodes.contains(where: { CapturedText($0) == code }) {
            let held = WaitReason(.held, detail: (reason.heldCodes + [code]).joined(separator: ", "))
            try run(
                """
                UPDATE waits SET reason = ?
                WHERE client = ? AND reason = ? AND kind NOT IN (SELECT value FROM json_each(?))
                """, [try rowID(of: held), client, id, exempt])
        }
    }

    /// Returns the stored withdrawals whose client or profile has records in `pool`.
    ///
    /// Rows that no job can have written are ignored.
    func withdrawals(of pool: CandidatePool) throws -> [Withdrawal] {
        var withdrawals: [Withdrawal] = []
        try rows("SELECT system, kind, id, code, capture, path FROM withdrawals") { row in
            let (id, kind, code) = (row[2] as String, row[1] as String, row[3] as String)
            guard let kind = Withdrawal.Subject.Kind(rawValue: kind), let reason = Withdrawal.Reason(rawValue: code),
                reason.isFinal
            else { return }
            let subject = Withdrawal.Subject(SystemName(row[0]), kind, id: id)
            guard pool.number(of: subject) != nil else { return }
            withdrawals.append(Withdrawal(reason, of: subject, capture: row[4], path: row[5]))
        }
        return withdrawals
    }
}
