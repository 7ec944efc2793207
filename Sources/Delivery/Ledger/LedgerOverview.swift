import SQLite
import Telemetry

/// Counts and texts of a ledger for an operator.
public struct LedgerOverview: Sendable {
    /// Whose uploads, and of which type.
    public struct RecordGroup: Sendable, Hashable {
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
        /// Not delivered, and never to be: an operator gave them up.
        public var givenUp = 0
        /// Neither settled nor in flight when a job last saw them, by reason; what is held is among them.
        public var waiting: [WaitReason: Int] = [:]

        /// Makes counts of nothing.
        public init() {}
    }

    /// The text of a server about a record that it refused or took.
    public struct Remark: Sendable, Equatable {
        /// The client and the type.
        public let group: RecordGroup
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
    public private(set) var counts: [RecordGroup: Counts] = [:]
    /// How many uploads each client has had of the day's quota.
    public private(set) var uploadsToday: [ClientName: Int] = [:]
    /// All that was refused, and what was taken with a remark, by id.
    public private(set) var remarks: [Remark] = []
    /// Servers that asked to be left alone, also those whose time is over.
    public private(set) var pauses: [Pause] = []
    /// When the last job began; nil if there was none.
    public private(set) var lastJob: Timestamp?
    /// When the last job began that ended with all well; nil if there was none.
    public private(set) var lastSuccess: Timestamp?
    /// The bundles of which something waits, in the order in which jobs met them.
    public private(set) var bundles: [WaitingBundle] = []

    /// A bundle of which something waits.
    public struct WaitingBundle: Sendable, Equatable {
        /// Its name.
        public let name: BundleName
        /// When a job was last given it.
        public let seen: Timestamp?
        /// What waits.
        public fileprivate(set) var waiting: [WaitReason: Int] = [:]
    }

    init(_ db: Database, today day: Int) throws {
        let names = Names(clients: try db.clientNames(), types: try db.typeNames())
        try add("SELECT client, kind, refused, count(*) FROM settled GROUP BY client, kind, refused", db, names) {
            switch Database.SettledState(rawValue: $1[2]) {
            case .delivered: $0.delivered += $1[3]
            case .givenUp: $0.givenUp += $1[3]
            case .refused, .none: $0.refused += $1[3]
            }
        }
        try add("SELECT client, kind, count(*) FROM flights GROUP BY client, kind", db, names) { $0.inFlight += $1[2] }
        try addWaits(db, names)
        for (client, used) in try db.usage(on: day) {
            if let name = names.clients[client], used > 0 { uploadsToday[name, default: 0] += used }
        }
        pauses = try db.pauses()
        lastJob = try db.first("SELECT time FROM jobs").flatMap { Timestamp(seconds: $0) }
        if try db.hasTable("waits") {
            lastSuccess = try db.first("SELECT success FROM jobs WHERE success IS NOT NULL").flatMap {
                Timestamp(seconds: $0)
            }
        }
        try db.rows(
            """
            SELECT client, kind, id, status, refused, text, time FROM remarks JOIN settled USING (identity, content)
            WHERE refused < 2 ORDER BY id
            """
        ) { row in
            guard let group = names.group(row) else { return }
            remarks.append(
                Remark(
                    group: group, id: row[2], status: row[3], isRefusal: row[4], text: row[5],
                    time: Timestamp(seconds: row[6])))
        }
    }

    private mutating func addWaits(_ db: Database, _ names: Names) throws {
        // What the last job of an earlier release left.
        try add("SELECT client, kind, reason, records FROM waiting WHERE records > 0", db, names) {
            $0.waiting[WaitReason(words: $1[2]), default: 0] += $1[3]
        }
        guard try db.hasTable("waits") else { return }
        var places: [Int64: Int] = [:]
        try db.rows("SELECT id, path, digest, time FROM bundles ORDER BY id") { row in
            places[row[0]] = bundles.count
            bundles.append(
                WaitingBundle(name: BundleName(path: row[1], digest: row[2]), seen: Timestamp(seconds: row[3])))
        }
        try db.waits { row in
            guard let group = names.group(row) else { return }
            let reason = WaitReason(row, at: 3)
            counts[group, default: Counts()].waiting[reason, default: 0] += row[5]
            if let place = places[row[2]] { bundles[place].waiting[reason, default: 0] += row[5] }
        }
        bundles.removeAll { $0.waiting.isEmpty }
    }

    /// - Parameter sql: a statement whose first columns are a client and a type.
    private mutating func add(
        _ sql: StaticString, _ db: Database, _ names: Names, _ count: (inout Counts, borrowing DatabaseRow) -> Void
    ) throws {
        try db.rows(sql) { row in
            if let group = names.group(row) { count(&counts[group, default: Counts()], row) }
        }
    }

    private struct Names {
        let clients: [Int64: ClientName]
        let types: [Int64: TypeName]

        /// - Parameter row: one whose first columns are a client and a type.
        func group(_ row: borrowing DatabaseRow) -> RecordGroup? {
            guard let client = clients[row[0]], let type = types[row[1]] else { return nil }
            return RecordGroup(client: client, type: type)
        }
    }
}
