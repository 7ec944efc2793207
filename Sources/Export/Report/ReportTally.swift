import Bundle
import Bytes
import Files
import Telemetry

/// A sink that counts the rows of an export for a report instead of writing them.
///
/// The type is a class, so that the export and the report can share a counter.
public final class ReportCounter: TableSink {
    private(set) var tally = ReportTally()
    let prepareRows: @Sendable (inout RowBuffer) -> ReportTally
    let identities: Set<FileIdentity> = []

    /// Creates a counter for the given systems.
    ///
    /// If `hidesSmallCounts` is `true`, all values of each client are collected, because values of only a few clients
    /// are hidden.
    public init(_ systems: SystemTable, hidesSmallCounts: Bool) {
        let tables = ExportTables(systems)
        prepareRows = { ReportTally(of: $0, tables, collectsValues: hidesSmallCounts) }
    }

    func write(_ tally: borrowing ReportTally) { self.tally.add(copy tally) }

    func commit() {}
}

/// The counts that a report collects while records are read.
///
/// Memory use is limited, except for the data about clients. Names from captures are truncated, and names beyond a
/// limit are counted together.
struct ReportTally: Sendable {
    var recordCount = 0
    var uploadableCount = 0
    var eventCount = 0
    var payloadByteCount = 0
    var untimedRecordCount = 0
    var untimedEventCount = 0

    /// The number of records of each kind on each day.
    ///
    /// Days are counted from 1970-01-01.
    var recordsByKindAndDay = BoundedCounts<KindDay>(keyLimit: 20_000)
    var recordsByKind = BoundedCounts<RecordKind>(keyLimit: 500)
    var eventsByDay = BoundedCounts<Int>(keyLimit: 20_000)

    var recordsBySystem = BoundedCounts<CapturedText>(keyLimit: 100)
    var recordsByApp = BoundedCounts<ReportApp>(keyLimit: 16_384)
    var recordsByModel = BoundedCounts<ReportModel>(keyLimit: 16_384)
    var recordsByLocale = BoundedCounts<CapturedText>(keyLimit: 2000)
    /// The number of pings that contain each metric.
    var pingsByMetric = BoundedCounts<MetricKind>(keyLimit: 512)
    var eventsByKind = BoundedCounts<EventKind>(keyLimit: 4000)
    var searchesByKind = BoundedCounts<SearchKind>(keyLimit: 500)
    /// The profiles of all clients.
    ///
    /// The profiles contain indices of entries in the counts from ``recordsBySystem`` to ``searchesByKind``.
    var profiles = ClientProfiles()
    var clients = LargestClients()
    var gaps = GapCounts()

    var heldRecordsByCode = BoundedCounts<CapturedText>(keyLimit: 200)
    var heldEventsByCode = BoundedCounts<CapturedText>(keyLimit: 200)
    /// The number of uploadable records for each client and record type.
    var uploadCounts: [ClientKey: Int32] = [:]

    var problems = CodeCounts()
    var quarantine = CodeCounts()

    struct KindDay: Hashable, Sendable {
        let kind: RecordKind
        let day: Int
    }

    mutating func add(_ later: ReportTally) {
        recordCount += later.recordCount
        uploadableCount += later.uploadableCount
        eventCount += later.eventCount
        payloadByteCount += later.payloadByteCount
        untimedRecordCount += later.untimedRecordCount
        untimedEventCount += later.untimedEventCount
        recordsByKindAndDay.add(later.recordsByKindAndDay)
        recordsByKind.add(later.recordsByKind)
        eventsByDay.add(later.eventsByDay)
        let indices = TallyIndices(
            systems: recordsBySystem.add(later.recordsBySystem), apps: recordsByApp.add(later.recordsByApp),
            models: recordsByModel.add(later.recordsByModel), locales: recordsByLocale.add(later.recordsByLocale),
            metrics: pingsByMetric.add(later.pingsByMetric), events: eventsByKind.add(later.eventsByKind),
            searches: searchesByKind.add(later.searchesByKind))
        profiles.add(later.profiles, indices)
        clients.add(later.clients)
        gaps.add(later.gaps)
        heldRecordsByCode.add(later.heldRecordsByCode)
        heldEventsByCode.add(later.heldEventsByCode)
        uploadCounts.merge(later.uploadCounts, uniquingKeysWith: +)
        problems.add(later.problems)
        quarantine.add(later.quarantine)
    }

    /// Returns the latest app and model of a client.
    func phone(of client: ClientKey) -> (app: ReportApp, model: ReportModel) {
        let profile = profiles[client]
        return (
            profile?.app.value.map { recordsByApp.entries[$0].key } ?? ReportApp(),
            profile?.model.value.map { recordsByModel.entries[$0].key } ?? ReportModel()
        )
    }
}

/// A row of the table of clients.
struct ReportClient: Sendable, Equatable {
    let system: String
    /// The id of the client, or `nil` for records without a client.
    let id: String?
    let key: ClientKey
    let apps: String?
    let recordCount: Int
    let uploadableCount: Int
    let eventCount: Int
    let firstTime: String?
    let lastTime: String?
}

/// The clients with the most records, and the totals of all clients.
struct LargestClients: Sendable {
    /// The clients with the most records, sorted by the number of records in descending order.
    private(set) var largest = LargestValues<ReportClient>(limit: maxRowCount)
    /// The number of clients.
    ///
    /// Records without a client are not counted as a client.
    private(set) var count = 0
    private(set) var recordCount = 0
    /// The largest number of uploadable records of a single client.
    private(set) var maxUploadableCount = 0

    /// The maximum number of clients with separate rows.
    static let maxRowCount = 100

    mutating func add(_ client: ReportClient) {
        count += client.id == nil ? 0 : 1
        recordCount += client.recordCount
        maxUploadableCount = max(maxUploadableCount, client.uploadableCount)
        largest.add(client, size: client.recordCount)
    }

    mutating func add(_ later: LargestClients) {
        count += later.count
        recordCount += later.recordCount
        maxUploadableCount = max(maxUploadableCount, later.maxUploadableCount)
        largest.add(later.largest)
    }
}

/// The system and the type of a record.
struct RecordKind: Hashable, Sendable {
    @CapturedText var system: String
    @CapturedText var type: String

    var name: String { "\(system) \(type)" }
}

/// An app and its version.
struct ReportApp: Hashable, Sendable {
    /// The name of the app, its id if the name is unknown, or `nil` if both are unknown.
    @OptionalCapturedText var name: String?
    @OptionalCapturedText var version: String?
}

/// A phone model with its operating system.
struct ReportModel: Hashable, Sendable {
    @OptionalCapturedText var device: String?
    @OptionalCapturedText var os: String?
    @OptionalCapturedText var osVersion: String?
}

/// A 64-bit hash that identifies a client.
///
/// The hash uses a random seed in each run, so that captured data cannot be crafted to produce equal keys.
struct ClientKey: Hashable, Sendable {
    private let hash: Int

    /// Creates the key of a client.
    ///
    /// Pass `nil` for `client` to identify the records of a system without a client.
    init(system: String, client: String?) {
        var hasher = Hasher()
        hasher.combine(CapturedText(system))
        hasher.combine(lowercasedASCIIOf: client)
        hash = hasher.finalize()
    }

    /// Returns a key for the client's records of the given type.
    func key(forType type: String) -> ClientKey { ClientKey(of: self, type: type) }

    private init(of client: ClientKey, type: String) {
        var hasher = Hasher()
        hasher.combine(client.hash)
        hasher.combine(CapturedText(type))
        hash = hasher.finalize()
    }
}

struct EventKind: Hashable, Sendable {
    @OptionalCapturedText var app: String?
    @OptionalCapturedText var name: String?
    @OptionalCapturedText var label: String?
}

struct SearchKind: Hashable, Sendable {
    @CapturedText var engine: String
    @OptionalCapturedText var source: String?

    /// The name of the engine with ASCII letters in lowercase.
    var caselessEngine: CapturedText { CapturedText(engine).lowercasedASCII() }
}

/// A metric of Glean and its type.
struct MetricKind: Hashable, Sendable {
    @CapturedText var name: String
    @CapturedText var type: String
}
