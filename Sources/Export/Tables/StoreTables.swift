import Bundle
import Bytes
import JSONText
import Telemetry

extension ExportTables {
    static let stores = Table(
        "stores",
        aRowForEach: "part of a store that `scan --json` lists separately, and for each bundle and each request log",
        [
            TableColumn("n", .integer, "the row number, from 1, in the order of `scan`", isRequired: true),
            TableColumn("capture", .text, "the name of the capture, or the path of the bundle", isRequired: true),
            TableColumn(
                "container", .text,
                "the app container on the phone, as in the table `records`; NULL for a bundle"
            ),
            TableColumn("path", .text, "the path of the store in the capture", isRequired: true),
            TableColumn("kind", .text, "the kind of the store", isRequired: true),
            TableColumn("system", .text, "the telemetry system of the store; NULL for a bundle or a request log"),
            TableColumn("app_id", .text, "the bundle id or application id of the app"),
            TableColumn("app_name", .text, "the name of the app"),
            TableColumn("app_version", .text, "the version of the app in the record with the latest time"),
            TableColumn("app_channel", .text, "the release channel of the app"),
            TableColumn("app_build", .text, "the build number of the app"),
            TableColumn("records", .integer, "the number of records", isRequired: true),
            TableColumn("uploadable", .integer, "the number of records that can be uploaded", isRequired: true),
            TableColumn("held", .json, "the number of held records by code", isRequired: true),
            TableColumn("types", .json, "the number of records by system and type", isRequired: true),
            TableColumn("quarantined", .integer, "the number of items in quarantine", isRequired: true),
            TableColumn("problems", .integer, "the number of problems", isRequired: true),
            TableColumn("pending_events", .json, "the number of pending events by state, if the store contains events"),
            TableColumn("facts", .json, "a list of sentences about the store as a whole"),
            TableColumn(
                "usage_data", .text,
                "`on`, `off` or `unknown`: whether the user has switched on usage data; NULL if no known setting of the app concerns the store"
            ),
        ], key: ["n"])

    static let queues = Table(
        "queues", aRowForEach: "queue of a store whose state is known",
        [
            TableColumn("n", .integer, "the row number, from 1, in the order of `scan`", isRequired: true),
            TableColumn("store", .integer, "the number `n` of the store in the table `stores`", isRequired: true),
            TableColumn("capture", .text, "the name of the capture", isRequired: true),
            TableColumn("container", .text, "the app container on the phone, as in the table `records`"),
            TableColumn("path", .text, "the path of the queue in the capture", isRequired: true),
            TableColumn("system", .text, "the telemetry system of the queue"),
            TableColumn("kind", .text, "the kind of the store", isRequired: true),
            TableColumn(
                "readiness", .text,
                "`ready` or `not-ready` by the rules of the app, `empty`, or `unknown` if the rules are unknown",
                isRequired: true),
            TableColumn("code", .text, "the code of the reason", isRequired: true),
            TableColumn("text", .text, "the reason", isRequired: true),
            TableColumn("sentence", .text, "a sentence that explains the state", isRequired: true),
            TableColumn(
                "at", .time,
                "the time at which the state was evaluated: the latest time in the store; NULL if it has none"),
            TableColumn("state", .json, "the state of the queue, as in `scan --json`", isRequired: true),
        ], key: ["n"])
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

    private var container: String? { hasContainer ? ContainerName.of(path: path, capture: capture) : nil }
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

// MARK: - Rows

extension ExportedStore {
    /// Returns the cells of the row in the table `stores`, without the row number.
    func storeCells(_ buffer: inout RowBuffer) -> [Cell] {
        [
            buffer.keep(capture), buffer.keep(container), buffer.keep(path), buffer.keep(kind),
            buffer.keep(system?.description), buffer.keep(app?.id), buffer.keep(app?.name), buffer.keep(app?.version),
            buffer.keep(app?.channel), buffer.keep(app?.build), .integer(Int64(totals.records)),
            .integer(Int64(totals.uploadableCount)), buffer.keep(json: totals.holds), buffer.keep(json: totals.types),
            .integer(Int64(quarantineCount)), .integer(Int64(problemCount)),
            buffer.keep(json: pendingEventCounts),
            facts.isEmpty ? .null : buffer.keep(json: facts), buffer.keep(usageData?.rawValue),
        ]
    }

    /// Returns the cells of the row of `queue` in the table `queues`, without the row number.
    ///
    /// `store` is the row number of the store in the table `stores`.
    func cells(of queue: EvaluatedQueue, store: Int, _ buffer: inout RowBuffer) -> [Cell] {
        let state = queue.state
        return [
            .integer(Int64(store)), buffer.keep(capture), buffer.keep(container), buffer.keep(path),
            buffer.keep(system?.description), buffer.keep(kind), buffer.keep(state.readiness.rawValue),
            buffer.keep(state.code), buffer.keep(state.text), buffer.keep(queue.sentence),
            queue.time.map { buffer.keep($0) } ?? .null, buffer.keep(json: queue.json),
        ]
    }
}

extension RowBuffer {
    fileprivate mutating func keep(json value: (some CanonicalValue)?) -> Cell {
        guard let value else { return .null }
        var bytes: [UInt8] = []
        value.appendJSON(to: &bytes)
        return keep(bytes.span)
    }
}
