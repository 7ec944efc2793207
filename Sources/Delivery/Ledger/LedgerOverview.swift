import Bytes
import SQLite
import Telemetry

/// The counts and remarks of a ledger, for display to the operator.
public struct LedgerOverview: Sendable {
    /// The counts of each group.
    public private(set) var counts: [RecordGroup: RecordCounts] = [:]
    /// The number of uploads of each client that count toward today's quota.
    public private(set) var uploadsToday: [ClientName: Int] = [:]
    /// The messages of servers about refused and delivered records, sorted by id.
    public private(set) var remarks: [ServerRemark] = []
    /// The pauses requested by servers, including pauses that have ended.
    public private(set) var pauses: [Pause] = []
    /// The time at which the last job began, or `nil` if no job has begun or the stored time is invalid.
    public private(set) var lastJobTime: Timestamp?
    /// The time at which the last successful job began, or `nil` if there was none or the stored time is invalid.
    public private(set) var lastSuccessTime: Timestamp?
    /// The time at which the last job ended, or `nil` while it runs, if it was killed, or if none has ended.
    public private(set) var lastEndTime: Timestamp?
    /// The exit status of the last job that ended, or `nil` if none has ended.
    public private(set) var lastExitStatus: Int?
    /// The records that are set aside, sorted by id.
    public private(set) var setAsideRecords: [FailedRecord] = []
    /// The earliest time of a record of each system that waits, except for those that are held or too old.
    public private(set) var oldestWaitingTimes: [SystemName: Timestamp] = [:]
    /// The bundles that contain waiting records, in the order in which jobs first read them.
    public private(set) var waitingBundles: [WaitingBundle] = []

    /// Returns the number of further jobs, one a day, that `limits` require for the records that jobs may still send.
    ///
    /// A list of events can need several uploads, so that the real number can be higher.
    public func nightsLeft(_ limits: UploadLimits) -> Int {
        var (nights, clients) = (0, [ClientName: Int]())
        func require(_ records: Int, _ limit: Int?) {
            if let limit, limit > 0 { nights = max(nights, records / limit + (records % limit > 0 ? 1 : 0)) }
        }
        // The maximum does not depend on the order of the groups.
        for (group, counts) in counts {
            let records = counts.waitingCounts.filter { $0.key.isDeferred }.values.saturatedSum
            if records > 0 { nights = max(nights, 1) }
            require(records, limits.perType)
            clients[group.client, default: 0] = clients[group.client, default: 0].addingSaturated(records)
        }
        for records in clients.values.sorted() { require(records, limits.daily) }
        return nights
    }

    init(_ db: Database, today day: Int, knowing systems: SystemTable) throws {
        let names = Names(clients: try db.clientNames(), types: try db.typeNames())
        try addCounts(
            from: "SELECT client, kind, refused, count(*) FROM settled GROUP BY client, kind, refused", db, names
        ) {
            switch SettledState(rawValue: $1[2]) {
            case .delivered: $0.deliveredCount += $1[3]
            case .givenUp: $0.givenUpCount += $1[3]
            case .refused, .none: $0.refusedCount += $1[3]
            }
        }
        try addCounts(from: "SELECT client, kind, count(*) FROM flights GROUP BY client, kind", db, names) {
            $0.inFlightCount += $1[2]
        }
        try addWaits(db, names, systems)
        try addFailures(db, names)
        for (client, used) in try db.usage(on: day) {
            if let name = names.clients[client], used > 0 { uploadsToday[name, default: 0] += used }
        }
        pauses = try db.pauses()
        try db.rows("SELECT time, success, ended, result FROM jobs") { row in
            lastJobTime = Timestamp(seconds: row[0])
            lastSuccessTime = (row[1] as Int64?).flatMap { Timestamp(seconds: $0) }
            lastEndTime = (row[2] as Int64?).flatMap { Timestamp(seconds: $0) }
            lastExitStatus = row[3]
        }
        oldestWaitingTimes = try db.oldestWaitingTimes()
        try db.rows(
            """
            SELECT client, kind, id, status, refused, text, time FROM remarks JOIN settled USING (identity, content)
            WHERE refused < 2 ORDER BY id
            """
        ) { row in
            guard let group = names.group(row) else { return }
            remarks.append(
                ServerRemark(
                    group: group, id: row[2], status: row[3], isRefusal: row[4], text: row[5],
                    time: Timestamp(seconds: row[6])))
        }
    }

    /// Adds the records that are set aside.
    private mutating func addFailures(_ db: Database, _ names: Names) throws {
        try db.rows(
            "SELECT client, kind, id, status, text, time, jobs FROM failures WHERE jobs >= ? ORDER BY id",
            [FailedRecord.maximumJobCount]
        ) { row in
            guard let group = names.group(row) else { return }
            setAsideRecords.append(
                FailedRecord(group: group, id: row[2], answer: FailureAnswer(row, at: 3), jobCount: row[6]))
        }
    }

    private mutating func addWaits(_ db: Database, _ names: Names, _ systems: SystemTable) throws {
        var positions: [Int64: Int] = [:]
        try db.rows("SELECT id, path, digest, time FROM bundles ORDER BY id") { row in
            positions[row[0]] = waitingBundles.count
            waitingBundles.append(
                WaitingBundle(name: BundleName(path: row[1], digest: row[2]), lastSeen: Timestamp(seconds: row[3])))
        }
        try db.forEachWait(knowing: systems) { row in
            guard let group = names.group(row) else { return }
            let reason = WaitReason(row, at: 3)
            counts[group, default: RecordCounts()].waitingCounts[reason, default: 0] += row[5]
            if let position = positions[row[2]] { waitingBundles[position].waitingCounts[reason, default: 0] += row[5] }
        }
        waitingBundles.removeAll { $0.waitingCounts.isEmpty }
    }

    /// Runs `sql`, and calls `count` with each row and the counts of the group in its first two columns.
    private mutating func addCounts(
        from sql: StaticString, _ db: Database, _ names: Names,
        _ count: (inout RecordCounts, borrowing DatabaseRow) -> Void
    ) throws {
        try db.rows(sql) { row in
            if let group = names.group(row) { count(&counts[group, default: RecordCounts()], row) }
        }
    }

    private struct Names {
        let clients: [Int64: ClientName]
        let types: [Int64: TypeName]

        /// Returns the group of `row`, or `nil` if the client or the type of the row has no name in the ledger.
        ///
        /// The first two columns of `row` contain the row ids of the client and of the type.
        func group(_ row: borrowing DatabaseRow) -> RecordGroup? {
            guard let client = clients[row[0]], let type = types[row[1]] else { return nil }
            return RecordGroup(client: client, type: type)
        }
    }
}

/// A group of records that have the same client and type of upload.
public struct RecordGroup: Sendable, Hashable {
    /// The client of the records.
    public let client: ClientName
    /// The type of the records' uploads.
    public let type: TypeName
}

/// The number of records of one group in each state.
public struct RecordCounts: Sendable, Equatable {
    /// The number of records that were delivered, or settled because nothing was left to send.
    public var deliveredCount = 0
    /// The number of records that the server refused and that the operator has not given up.
    public var refusedCount = 0
    /// The number of uploads in flight whose outcome is unknown.
    public var inFlightCount = 0
    /// The number of undelivered records that the operator has given up.
    public var givenUpCount = 0
    /// The number of waiting and held records, by reason.
    ///
    /// Each record is counted with the reason that the last job recorded for it, unless the operator has released
    /// or retried the record since then.
    public var waitingCounts: [WaitReason: Int] = [:]

    /// Creates counts that are all zero.
    public init() {}
}

/// A message from a server about a refused or delivered record.
public struct ServerRemark: Sendable, Equatable {
    /// The client and the type of the record.
    public let group: RecordGroup
    /// The id of the record.
    public let id: String
    /// The HTTP status of the answer.
    public let status: Int
    /// Whether the record was refused.
    public let isRefusal: Bool
    /// The reason of the refusal, or the remark about the delivery.
    public let text: String
    /// The time at which the record was settled, or `nil` if the stored time is invalid.
    public let time: Timestamp?
}

/// A bundle that contains waiting records.
public struct WaitingBundle: Sendable, Equatable {
    /// The path and digest of the bundle.
    public let name: BundleName
    /// The time of the last job that was given the bundle, or `nil` if the stored time is invalid.
    public let lastSeen: Timestamp?
    /// The number of waiting and held records of the bundle, by reason.
    public fileprivate(set) var waitingCounts: [WaitReason: Int] = [:]
}
