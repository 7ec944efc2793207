import GRDB
import Telemetry

/// Counts and texts of a ledger for an operator.
public struct LedgerOverview: Sendable {
    /// Whose uploads, and of which type.
    public struct Subject: Sendable, Hashable {
        /// The client.
        public let client: ClientName
        /// The type of upload.
        public let type: TypeName
    }

    /// How many records of a client and type there are.
    public struct Counts: Sendable, Equatable {
        /// Delivered, or settled because nothing of them was left to send.
        public var delivered = 0
        /// Refused by the server for good.
        public var refused = 0
        /// Uploads marked in flight of which nothing more is known.
        public var inFlight = 0
        /// What the last job left, by reason.
        public var waiting: [String: Int] = [:]

        /// Makes counts of nothing.
        public init() {}
    }

    /// The text of a server about a record that it refused or took.
    public struct Remark: Sendable, Equatable {
        /// The client and the type.
        public let subject: Subject
        /// The record's id.
        public let id: String
        /// The server's answer.
        public let status: Int
        /// Whether it was refused.
        public let isRefusal: Bool
        /// The reason of the refusal, or the remark of the server.
        public let text: String
        /// When.
        public let time: Timestamp?
    }

    /// The counts.
    public private(set) var counts: [Subject: Counts] = [:]
    /// How many uploads each client has had of the day's quota.
    public private(set) var today: [ClientName: Int] = [:]
    /// All that was refused, and what was taken with a remark, by id.
    public private(set) var remarks: [Remark] = []
    /// Servers that asked to be left alone, also those whose time is over.
    public private(set) var pauses: [Pause] = []
    /// When the last job began; nil if there was none.
    public private(set) var lastJob: Timestamp?

    init(_ db: Database, today day: Int) throws {
        let names = Names(clients: try db.clientNames(), types: try db.typeNames())
        let settled = "SELECT client, kind, refused, count(*) AS records FROM settled GROUP BY client, kind, refused"
        try add(settled, db, names) { counts, row in
            if row["refused"] { counts.refused += row["records"] } else { counts.delivered += row["records"] }
        }
        try add("SELECT client, kind, count(*) AS records FROM flights GROUP BY client, kind", db, names) {
            $0.inFlight += $1["records"]
        }
        try add("SELECT client, kind, reason, records FROM waiting WHERE records > 0", db, names) {
            $0.waiting[$1["reason"], default: 0] += $1["records"]
        }
        for (client, used) in try db.usage(on: day) {
            if let name = names.clients[client], used > 0 { today[name, default: 0] += used }
        }
        pauses = try db.pauses()
        lastJob = try Int64.fetchOne(db, sql: "SELECT time FROM jobs").flatMap { Timestamp(milliseconds: $0 &* 1000) }
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT client, kind, id, status, refused, text, time FROM remarks JOIN settled USING (identity, content)
                ORDER BY id
                """)
        while let row = try rows.next() {
            guard let subject = names.subject(row) else { continue }
            remarks.append(
                Remark(
                    subject: subject, id: row["id"], status: row["status"], isRefusal: row["refused"],
                    text: row["text"], time: Timestamp(milliseconds: (row["time"] as Int64) &* 1000)))
        }
    }

    private mutating func add(
        _ sql: String, _ db: Database, _ names: Names, _ count: (inout Counts, Row) -> Void
    ) throws {
        let rows = try Row.fetchCursor(db, sql: sql)
        while let row = try rows.next() {
            if let subject = names.subject(row) { count(&counts[subject, default: Counts()], row) }
        }
    }

    private struct Names {
        let clients: [Int64: ClientName]
        let types: [Int64: TypeName]

        func subject(_ row: Row) -> Subject? {
            guard let client = clients[row["client"]], let type = types[row["kind"]] else { return nil }
            return Subject(client: client, type: type)
        }
    }
}
