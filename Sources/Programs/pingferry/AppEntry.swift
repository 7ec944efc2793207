import Bundle
import Telemetry

/// All that a scan found of one app, added up.
struct AppEntry {
    /// Its bundle id; nil where nothing tells it.
    let id: String?
    /// Its name in upload paths; nil where nothing tells it.
    private(set) var name: String?
    private(set) var versions: Set<String> = []
    private(set) var systems: Set<String> = []
    /// The labels of the captures that it is in.
    private(set) var captures: Set<String> = []
    private(set) var containers = 0
    /// How many stores there are of each kind.
    private(set) var kinds: [String: Int] = [:]
    private(set) var totals = BundleTotals()
    private(set) var labels = EventCounts()
    private(set) var problemCount = 0
    private(set) var quarantineCount = 0
    /// Counts of the events that wait, by the name of what became of them.
    private(set) var events: [String: Int] = [:]
    /// How many queues are in each state.
    private(set) var queues: [QueueState: Int] = [:]
    /// How many stores tell each sentence.
    private var facts: [String: Int] = [:]

    init(_ key: AppRollUp.Key) {
        switch key {
        case .id(let id): (self.id, name) = (id, nil)
        case .name(let name): (id, self.name) = (nil, name)
        case .unknown: (id, name) = (nil, nil)
        }
    }

    var stores: Int { kinds.values.reduce(0, +) }

    /// The name, or else the identifier.
    var shortName: String { name ?? id ?? "(unknown)" }

    /// Counts the container of a row. A bundle or a request log has none.
    mutating func countContainer(of row: ScanRow) {
        captures.insert(row.capture)
        if row.container != nil { containers += 1 }
    }

    /// Adds what was found in a store.
    /// - Parameter app: what is known of the app of the store.
    mutating func add(_ row: ScanRow, app: App?) {
        name = name ?? app?.name
        if let version = app?.version { versions.insert(version) }
        systems.formUnion(row.systems)
        kinds[row.kind, default: 0] += 1
        totals.add(row.totals)
        labels.add(row.labels)
        problemCount += row.problemCount
        quarantineCount += row.quarantineCount
        if let found = row.details.events { events.merge(found, uniquingKeysWith: +) }
        if let queue = row.details.queue { queues[queue.state, default: 0] += 1 }
        for fact in row.details.facts { facts[fact, default: 0] += 1 }
    }

    /// Whether it comes first in a list.
    func precedes(_ other: AppEntry) -> Bool {
        let (isKnown, isOtherKnown) = (name != nil || id != nil, other.name != nil || other.id != nil)
        guard isKnown == isOtherKnown else { return isKnown }
        let (own, others) = ([shortName, id ?? ""], [other.shortName, other.id ?? ""])
        return own.lexicographicallyPrecedes(others) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The queues by their state, those that are ready first.
    var sortedQueues: [(state: QueueState, count: Int)] {
        QueueState.Readiness.allCases.flatMap { readiness in
            queues.filter { $0.key.readiness == readiness }.sorted { $0.key.code < $1.key.code }
                .map { (state: $0.key, count: $0.value) }
        }
    }

    /// What several stores tell alike, the most frequent first, and how many other sentences there are. Where there are few
    /// in all, all are given.
    var commonFacts: (facts: [(text: String, stores: Int)], others: Int) {
        let sorted = facts.sorted { left, right in
            left.value != right.value
                ? left.value > right.value : left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
        }
        let common = sorted.count > Self.maximumFactCount ? sorted.filter { $0.value > 1 } : sorted
        let shown = common.prefix(Self.maximumFactCount).map { (text: $0.key, stores: $0.value) }
        return (shown, sorted.count - shown.count)
    }

    private static let maximumFactCount = 3
}
