import Bundle
import Bytes
import Capture
import Export
import JSONText
import Telemetry

/// The findings of a scan in one part of a store, one bundle or one request log.
struct ScanRow {
    let capture: String
    /// The container of the store, or `nil` for a bundle or a request log.
    var container: Container?
    /// The number of the container, bundle or request log, counted across all inputs.
    var containerNumber: Int
    let kind: String
    let path: String
    var app: App?
    /// The time of the record that names the app, or `nil` if it is unknown.
    var appTime: Timestamp?
    /// The system of the store, or `nil` for a bundle or a request log.
    var system: SystemName?
    var systems: Set<CapturedText> = []
    var totals = BundleTotals()
    var eventCounts = EventCounts()
    /// The number of quarantined entries, including entries that are not shown.
    var quarantineCount = 0
    /// The number of problems, including problems that are not shown.
    var problemCount = 0
    /// The state of usage data, or `nil` if no setting for usage data concerns the store.
    var usageData: UsageDataStatus?
    var details = ScanDetails()

    /// The kind of a row for a bundle.
    static let bundleKind = "bundle"

    /// Sets the totals, the event counts and the systems from `counts`.
    mutating func set(_ counts: [CountedSubject: Int]) {
        // Sums do not depend on the order.
        for (subject, count) in counts {
            switch subject {
            case .type(let system, let type, let isUploadable):
                systems.insert(system)
                totals.add(count, ofType: type.string, in: system.string)
                if isUploadable { totals.addUploadable(count) }
            case .held(let code): totals.addHeld(count, code: code.string)
            case .event(let meaning): eventCounts.add(count, meaning: meaning?.string)
            }
        }
    }

    /// The sentences about the apps of the records, if there are several, and about the types with many records.
    ///
    /// A bundle or a request log has none, because their records are from any number of clients.
    var countFacts: [String] {
        guard container != nil, system != nil else { return [] }
        let names = details.appNames.sortedStrings
        let apps = names.count > 1 ? ["records of \(names.count) apps: \(names.joined(separator: ", "))"] : []
        let limit = DocumentedLimits.uploadsOfTypeInJob
        guard totals.records > limit else { return apps }
        let types = totals.types.filter { $0.value > limit }.sorted { $0.key < $1.key }
        return apps
            + types.map { type, count in
                "\(type): \(count) records; a job sends at most \(limit) of a type for a client"
            }
    }

    /// Returns `path` relative to `folder`, unchanged if it is not inside, or `.` if it is empty or equal to `folder`.
    static func relativePath(of path: String, in folder: String) -> String {
        if path.isEmpty || path == folder { return "." }
        guard !folder.isEmpty, path.utf8.starts(with: "\(folder)/".utf8) else { return path }
        return String(decoding: path.utf8.dropFirst(folder.utf8.count + 1), as: UTF8.self)
    }
}

/// The findings that only a few rows of a scan have.
struct ScanDetails {
    /// The quarantined entries that are shown.
    var quarantined: [QuarantineEntry] = []
    /// The problems that are shown.
    var problems: [LocatedProblem] = []
    /// The number of pending events in each state, or `nil` if the part of the store does not report it.
    var pendingEvents: [CapturedText: Int]?
    /// The names of the apps of the records, or an empty set if all records name the same app.
    var appNames: Set<CapturedText> = []
    /// The queue in the part of the store, or `nil` if the part reports none.
    var queue: EvaluatedQueue?
    /// Sentences about the store as a whole.
    var facts: [String] = []
}

/// The number of events with each documented meaning.
struct EventCounts {
    private var countsByMeaning: [CapturedText: Int] = [:]
    private var unknownCount = 0

    /// Adds events with the given meaning, or without a documented meaning if `meaning` is `nil`.
    mutating func add(_ count: Int, meaning: String?) {
        if let meaning { countsByMeaning[meaning, default: 0] += count } else { unknownCount += count }
    }

    mutating func add(_ other: EventCounts) {
        countsByMeaning.merge(other.countsByMeaning, uniquingKeysWith: +)
        unknownCount += other.unknownCount
    }

    var json: CanonicalObject { ["known": countsByMeaning, "unknown": unknownCount] }
}
