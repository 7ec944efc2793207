import Bundle
import Bytes
import Telemetry

/// The findings of a scan, grouped by app and combined from the containers of all captures.
struct AppRollUp {
    /// The key by which containers are combined, preferably the bundle id and otherwise the name of the app.
    enum Key: Hashable {
        case id(CapturedText)
        case name(CapturedText)
        case unknown
    }

    /// The apps, sorted by name and bundle id, with the entry for unknown apps at the end.
    let entries: [AppEntry]

    /// Creates a roll-up of the findings in `rows`, whose counts must be final.
    init(_ rows: some Sequence<ScanRow>, containerCount: Int, _ apps: ContainerApps) {
        var keys: [Key?] = Array(repeating: nil, count: containerCount)
        for row in rows {
            let key = Self.key(of: row, apps)
            if key.isMoreSpecific(than: keys[row.containerNumber]) { keys[row.containerNumber] = key }
        }
        var entries: [Key: AppEntry] = [:]
        var isCounted = Array(repeating: false, count: keys.count)
        for row in rows {
            let key = keys[row.containerNumber] ?? .unknown
            if !isCounted[row.containerNumber] { entries[key, default: AppEntry(key)].countContainer(of: row) }
            isCounted[row.containerNumber] = true
            entries[key]?.add(row, app: apps.app(of: row))
        }
        self.entries = entries.values.sorted { $0.precedes($1) }
    }

    private static func key(of row: ScanRow, _ apps: ContainerApps) -> Key {
        if let container = row.container,
            let id = container.applicationID ?? container.groupApplicationID ?? container.identifier
        {
            return .id(CapturedText(id))
        }
        let app = apps.app(of: row)
        return app?.id.map { .id(CapturedText($0)) } ?? app?.name.map { .name(CapturedText($0)) } ?? .unknown
    }

    /// The display names of ``entries``, with versions, and with bundle ids if several apps have the same name.
    var names: [String] {
        let counts = Dictionary(entries.map { (CapturedText($0.shortName), 1) }, uniquingKeysWith: +)
        return entries.map { entry in
            let versions = entry.versions.count
            let version =
                versions == 1 ? " \(entry.versions.first?.string ?? "")" : versions > 1 ? ", \(versions) versions" : ""
            let isShared = counts[entry.shortName] ?? 0 > 1
            let id = isShared && entry.name != nil ? entry.id.map { " (\($0))" } ?? "" : ""
            return entry.shortName + version + id
        }
    }
}

extension AppRollUp.Key {
    /// Returns whether this key identifies an app more precisely than `other`.
    fileprivate func isMoreSpecific(than other: AppRollUp.Key?) -> Bool {
        switch (self, other) {
        case (_, nil), (.id, .name), (.id, .unknown), (.name, .unknown): true
        case (.id, .id), (.name, .id), (.name, .name), (.unknown, _): false
        }
    }
}

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
    private var queueCounts: [QueueState: Int] = [:]
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
        // In descending order of the number of stores, then in the order of the facts.
        let sorted = factCounts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let common = sorted.count > Self.maximumFactCount ? sorted.filter { $0.value > 1 } : sorted
        let shown = common.prefix(Self.maximumFactCount).map { (text: $0.key.string, stores: $0.value) }
        return (shown, sorted.count - shown.count)
    }

    private static let maximumFactCount = 3
}

/// The apps to which containers belong, as determined from the stores in the containers.
struct ContainerApps {
    private struct OwnerKey: Hashable {
        @CapturedText var capture: String
        @CapturedText var bundleID: String
    }

    /// The app of each container with a row that names an app with a version, by the number of the container.
    private var apps: [Int: LatestApp] = [:]
    /// The main containers of apps with known bundle ids, each with its number and path.
    private var ownContainers: [OwnerKey: (number: Int, path: String)] = [:]

    /// Determines the apps from `rows`, whose counts must be final.
    init(_ rows: some Sequence<ScanRow>) {
        for row in rows {
            guard let container = row.container else { continue }
            let number = row.containerNumber
            if let app = row.app, app.version != nil {
                let found = LatestApp(app, at: row.appTime)
                if apps[number].map({ Self.precedes(found, $0) }) ?? true { apps[number] = found }
            }
            if let id = container.applicationID {
                ownContainers[OwnerKey(capture: row.capture, bundleID: id)] = (number, container.path)
            }
        }
    }

    /// Returns whether `app` takes precedence over `known`, an app of the same container that was found earlier.
    ///
    /// If only one of them has a name, that app takes precedence, and otherwise the app with the later time.
    private static func precedes(_ app: LatestApp, _ known: LatestApp) -> Bool {
        let isNamed = app.app.name != nil
        return isNamed == (known.app.name != nil) ? !app.isEarlier(than: known) : isNamed
    }

    /// Returns the app to which `row` belongs, or `nil` if it is unknown.
    ///
    /// If `row` names no app with a version, other stores in its container or in the main container may name the app.
    func app(of row: ScanRow) -> App? {
        if row.app?.version != nil { return row.app }
        let found = apps[row.containerNumber] ?? owner(of: row).flatMap { apps[$0.number] }
        return found?.app ?? row.app
    }

    /// Returns the path of the main container of the app with the group container of `row`, or `nil` if it is unknown.
    func appContainer(of row: ScanRow) -> String? { owner(of: row)?.path }

    private func owner(of row: ScanRow) -> (number: Int, path: String)? {
        row.container?.groupApplicationID.flatMap { ownContainers[OwnerKey(capture: row.capture, bundleID: $0)] }
    }
}
