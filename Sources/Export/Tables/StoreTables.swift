import Bundle
import Bytes
import JSONText
import Telemetry

extension ExportTables {
    static let stores = RowTable<ExportedStore>(
        numbered: "stores", "the row number, from 1, in the order of `scan`",
        aRowForEach: "part of a store that `scan --json` lists separately, and for each bundle and each request log",
        [
            .text("capture", "the name of the capture, or the path of the bundle") { $0.capture },
            .text(
                "container", "the app container on the phone, as in the table `records`; NULL for a bundle"
            ) { $0.container },
            .text("path", "the path of the store in the capture") { $0.path },
            .text("kind", "the kind of the store") { $0.kind },
            .text(
                "system", "the telemetry system of the store; NULL for a bundle or a request log"
            ) { $0.system?.description },
            .text("app_id", "the bundle id or application id of the app") { $0.app?.id },
            .text("app_name", "the name of the app") { $0.app?.name },
            .text("app_version", "the version of the app in the record with the latest time") { $0.app?.version },
            .text("app_channel", "the release channel of the app") { $0.app?.channel },
            .text("app_build", "the build number of the app") { $0.app?.build },
            .integer("records", "the number of records") { $0.totals.records },
            .integer("uploadable", "the number of records that can be uploaded") { $0.totals.uploadableCount },
            .json("held", "the number of held records by code") { $0.totals.holds },
            .json("types", "the number of records by system and type") { $0.totals.types },
            .integer("quarantined", "the number of items in quarantine") { $0.quarantineCount },
            .integer("problems", "the number of problems") { $0.problemCount },
            .json(
                "pending_events", "the number of pending events by state, if the store contains events"
            ) { $0.pendingEventCounts },
            .json("facts", "a list of sentences about the store as a whole") { $0.facts.isEmpty ? nil : $0.facts },
            .text(
                "usage_data",
                "`on`, `off` or `unknown`: whether the user has switched on usage data; NULL if no known setting of the app concerns the store"
            ) { $0.usageData?.rawValue },
        ])

    static let queues = RowTable<(store: ExportedStore, number: Int, queue: EvaluatedQueue)>(
        numbered: "queues", "the row number, from 1, in the order of `scan`",
        aRowForEach: "queue of a store whose state is known",
        [
            .integer("store", "the number `n` of the store in the table `stores`") { $0.number },
            .text("capture", "the name of the capture") { $0.store.capture },
            .text("container", "the app container on the phone, as in the table `records`") { $0.store.container },
            .text("path", "the path of the queue in the capture") { $0.store.path },
            .text("system", "the telemetry system of the queue") { $0.store.system?.description },
            .text("kind", "the kind of the store") { $0.store.kind },
            .text(
                "readiness",
                "`ready` or `not-ready` by the rules of the app, `empty`, or `unknown` if the rules are unknown"
            ) { $0.queue.state.readiness.rawValue },
            .text("code", "the code of the reason") { $0.queue.state.code },
            .text("text", "the reason") { $0.queue.state.text },
            .text("sentence", "a sentence that explains the state") { $0.queue.sentence },
            .time(
                "at", "the time at which the state was evaluated: the latest time in the store; NULL if it has none"
            ) { $0.queue.time },
            .json("state", "the state of the queue, as in `scan --json`") { $0.queue.json },
        ])
}

/// A store, bundle or request log, as listed in the tables `stores` and `queues`.
public struct ExportedStore: Sendable {
    /// The label of the capture, or the path of the bundle.
    public var capture: String
    /// The path of the store in the capture.
    public var path: String
    /// The kind of the store.
    public var kind: String
    /// Whether all files are in the same app container, which is not the case for bundles.
    public var hasContainer = true
    /// The system of the store, or `nil` for a bundle or a request log.
    public var system: SystemName?
    /// The app that the store belongs to, or `nil` if it is unknown.
    public var app: App?
    /// The number of records, uploadable records and held records in the store.
    public var totals = BundleTotals()
    /// The number of items that were quarantined from the store.
    public var quarantineCount = 0
    /// The number of problems with the store.
    public var problemCount = 0
    /// The number of pending events by state, or `nil` if the store does not report it.
    public var pendingEventCounts: [CapturedText: Int]?
    /// The sentences about the store as a whole.
    public var facts: [String] = []
    /// Whether the user has switched on usage data, or `nil` if no known setting of the app concerns the store.
    public var usageData: UsageDataState?
    /// The state of the queue, or `nil` if the store is not a queue or its state is unknown.
    public var queue: EvaluatedQueue?

    /// Creates a store without contents.
    public init(capture: String, path: String, kind: String) {
        self.capture = capture
        self.path = path
        self.kind = kind
    }

    fileprivate var container: String? { hasContainer ? ContainerName.of(path: path, capture: capture) : nil }
}

/// A queue, and the time at which its state is evaluated by the rules of its app.
public struct EvaluatedQueue: Sendable {
    private let rules: any QueueRules
    /// The time of the evaluation, in milliseconds since 1970, or 0 if the store contains no time.
    private let instant: Int64

    /// Creates a queue whose state is evaluated at `instant`.
    public init(rules: any QueueRules, instant: Int64) {
        self.rules = rules
        self.instant = instant
    }

    /// The readiness of the queue for upload, and the reason.
    public var state: QueueState { rules.state(at: instant) }
    /// A sentence, without a full stop, that explains the state.
    public var sentence: String { rules.sentence(at: instant) }
    /// The state of the queue as JSON, as in `scan --json`.
    public var json: CanonicalObject { rules.json(at: instant) }

    fileprivate var time: Timestamp? { instant == 0 ? nil : Timestamp(milliseconds: instant) }
}
