import Telemetry

/// All that a report counts while records are read. It does not grow with the records, but for some bytes a client; names out of
/// captures are cut, and those beyond a limit counted together.
struct ReportTally: Sendable {
    var records = 0
    var uploadable = 0
    var events = 0
    var payloadBytes = 0
    /// Records and events that no time is known of.
    var timelessRecords = 0
    var timelessEvents = 0

    /// Records by kind and day, which is counted from 1970.
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
    /// How many uploadable records of one type a client has.
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
        timelessRecords += later.timelessRecords
        timelessEvents += later.timelessEvents
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

/// The clients with the most records, and how many others there are.
struct LargestClients: Sendable {
    /// A client as the table of clients has it.
    struct Client: Sendable, Equatable {
        let system: String
        /// Nil for the records of a system without a client.
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
    /// How many clients there are; records without one are of none.
    private(set) var count = 0
    private(set) var records = 0
    /// The most uploadable records that a client has.
    private(set) var mostUploadable = 0

    /// So many clients have a row of their own.
    static let limit = 100

    mutating func add(_ client: Client) {
        count += client.client == nil ? 0 : 1
        records += client.records
        mostUploadable = max(mostUploadable, client.uploadable)
        kept.append(client)
        if kept.count >= 2 * Self.limit { kept = largest }
    }

    mutating func add(_ later: LargestClients) {
        count += later.count
        records += later.records
        mostUploadable = max(mostUploadable, later.mostUploadable)
        kept += later.kept
        if kept.count >= 2 * Self.limit { kept = largest }
    }

    /// The clients with the most records, the largest first; of equal ones, the one that came first.
    var largest: [Client] {
        kept.enumerated().sorted { ($1.element.records, $0.offset) < ($0.element.records, $1.offset) }
            .prefix(Self.limit).map(\.element)
    }
}
