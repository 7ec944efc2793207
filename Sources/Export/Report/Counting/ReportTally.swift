import Telemetry

/// The counts that a report collects while records are read.
///
/// The memory use depends only on the number of clients. Names from captures are truncated, and names beyond a limit
/// are counted together.
struct ReportTally: Sendable {
    var records = 0
    var uploadable = 0
    var events = 0
    var payloadBytes = 0
    var recordsWithoutTime = 0
    var eventsWithoutTime = 0

    /// The number of records by kind and by day since 1970-01-01.
    var kindDays = BoundedCounts<KindDay>(limit: 20_000)
    var kinds = BoundedCounts<RecordKind>(limit: 500)
    var eventDays = BoundedCounts<Int>(limit: 20_000)

    var apps = BoundedCounts<ReportApp>(limit: 2000)
    var models = BoundedCounts<ReportModel>(limit: 2000)
    var phones = ClientPhones()
    var clients = LargestClients()

    var eventKinds = BoundedCounts<EventKind>(limit: 4000)
    var searches = BoundedCounts<SearchKind>(limit: 500)

    var heldRecords = BoundedCounts<String>(limit: 200)
    var heldEvents = BoundedCounts<String>(limit: 200)
    /// The number of uploadable records for each client and record type.
    var uploads: [ClientKey: Int32] = [:]

    var problems = CodeCounts()
    var quarantine = CodeCounts()

    struct KindDay: Hashable, Sendable {
        let kind: RecordKind
        let day: Int
    }

    mutating func add(_ later: ReportTally) {
        records += later.records
        uploadable += later.uploadable
        events += later.events
        payloadBytes += later.payloadBytes
        recordsWithoutTime += later.recordsWithoutTime
        eventsWithoutTime += later.eventsWithoutTime
        kindDays.add(later.kindDays)
        kinds.add(later.kinds)
        eventDays.add(later.eventDays)
        apps.add(later.apps)
        models.add(later.models)
        phones.add(later.phones)
        clients.add(later.clients)
        eventKinds.add(later.eventKinds)
        searches.add(later.searches)
        heldRecords.add(later.heldRecords)
        heldEvents.add(later.heldEvents)
        uploads.merge(later.uploads, uniquingKeysWith: +)
        problems.add(later.problems)
        quarantine.add(later.quarantine)
    }
}

/// The clients with the most records, and the number of all clients.
struct LargestClients: Sendable {
    /// A row of the table of clients.
    struct Client: Sendable, Equatable {
        let system: String
        /// The id of the client, or `nil` for records without a client.
        let client: String?
        let key: ClientKey
        let apps: String?
        let records: Int
        let uploadable: Int
        let events: Int
        let first: String?
        let last: String?
    }

    private var kept: [Client] = []
    /// The number of clients.
    ///
    /// Records without a client are not counted as a client.
    private(set) var count = 0
    private(set) var records = 0
    /// The largest number of uploadable records of a single client.
    private(set) var maxUploadable = 0

    /// The maximum number of clients with separate rows.
    static let limit = 100

    mutating func add(_ client: Client) {
        count += client.client == nil ? 0 : 1
        records += client.records
        maxUploadable = max(maxUploadable, client.uploadable)
        kept.append(client)
        if kept.count >= 2 * Self.limit { kept = largest }
    }

    mutating func add(_ later: LargestClients) {
        count += later.count
        records += later.records
        maxUploadable = max(maxUploadable, later.maxUploadable)
        kept += later.kept
        if kept.count >= 2 * Self.limit { kept = largest }
    }

    /// The clients with the most records, sorted by the number of records in descending order.
    var largest: [Client] {
        kept.enumerated().sorted { ($1.element.records, $0.offset) < ($0.element.records, $1.offset) }
            .prefix(Self.limit).map(\.element)
    }
}
