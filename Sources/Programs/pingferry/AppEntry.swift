import Bundle
import Bytes
import Telemetry

/// The findings of a scan for one app, combined from all its containers.
struct AppEntry {
    /// The bundle id of the app, or `nil` if it is unknown.
    let id: String?
    /// The name of the app in upload paths, or `nil` if it is unknown.
    private(set) var name: String?
    private(set) var versions: Set<CapturedText> = []
    private(set) var systems: Set<CapturedText> = []
    /// The labels of the captures that contain the app.
    private(set) var captures: Set<CapturedText> = []
    private(set) var containerCount = 0
    /// The number of stores of each kind, with each part of a store counted separately.
    private(set) var kindCounts: [CapturedText: Int] = [:]
    private(set) var totals = BundleTotals()
    private(set) var eventCounts = EventCounts()
    private(set) var problemCount = 0
    private(set) var quarantineCount = 0
    /// The number of pending events in each state.
    private(set) var pendingEventCounts: [CapturedText: Int] = [:]
    /// The number of queues in each state.
    private(set) var queueCounts: [QueueState: Int] = [:]
    /// The number of stores for each state of usage data.
    private(set) var usageDataCounts: [CapturedText: Int] = [:]
    /// The number of stores to which each fact applies.
    private var factCounts: [CapturedText: Int] = [:]

    init(_ key: AppRollUp.Key) {
        switch key {
        case .id(let id): (self.id, name) = (id.string, nil)
        case .name(let name): (id, self.name) = (nil, name.string)
        case .unknown: (id, name) = (nil, nil)
        }
    }

    var storeCount: Int { kindCounts.values.reduce(0, +) }

    /// The name of the app, or its bundle id if the name is unknown.
    var shortName: String { name ?? id ?? "(unknown)" }

    /// Counts the capture of `row`, and its container unless the row belongs to a bundle or a request log.
    mutating func countContainer(of row: ScanRow) {
        captures.insert(row.capture)
        if row.container != nil { containerCount += 1 }
    }

    /// Adds the findings of `row`, whose app is `app`, or `nil` if the app is unknown.
    mutating func add(_ row: ScanRow, app: App?) {
        name = name ?? app?.name
        if let version = app?.version { versions.insert(version) }
        systems.formUnion(row.systems)
        kindCounts[row.kind, default: 0] += 1
        totals.add(row.totals)
        eventCounts.add(row.eventCounts)
        problemCount += row.problemCount
        quarantineCount += row.quarantineCount
        if let found = row.details.pendingEvents { pendingEventCounts.merge(found, uniquingKeysWith: +) }
        if let queue = row.details.queue { queueCounts[queue.state, default: 0] += 1 }
        if let found = row.usageData { usageDataCounts[found.state.rawValue, default: 0] += 1 }
        for fact in row.details.facts { factCounts[fact, default: 0] += 1 }
    }

    /// Returns whether this entry is listed before `other`.
    func precedes(_ other: AppEntry) -> Bool {
        let (isKnown, isOtherKnown) = (name != nil || id != nil, other.name != nil || other.id != nil)
        guard isKnown == isOtherKnown else { return isKnown }
        let (key, otherKey) = ([shortName, id ?? ""], [other.shortName, other.id ?? ""])
        return key.lexicographicallyPrecedes(otherKey) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The number of queues in each state, with the ready queues first.
    var sortedQueues: [(state: QueueState, count: Int)] {
        QueueState.Readiness.allCases.flatMap { readiness in
            queueCounts.filter { $0.key.readiness == readiness }.sorted { $0.key.code < $1.key.code }
                .map { (state: $0.key, count: $0.value) }
        }
    }

    /// The most frequent facts with the number of stores for each, and the number of omitted facts.
    var commonFacts: (facts: [(text: String, stores: Int)], others: Int) {
        let sorted = factCounts.sorted { left, right in
            left.value != right.value
                ? left.value > right.value : left.key < right.key
        }
        let common = sorted.count > Self.maximumFactCount ? sorted.filter { $0.value > 1 } : sorted
        let shown = common.prefix(Self.maximumFactCount).map { (text: $0.key.string, stores: $0.value) }
        return (shown, sorted.count - shown.count)
    }

    private static let maximumFactCount = 3
}
