import Bytes
import JSONText

/// A telemetry system.
///
/// Higher layers access a system only through this protocol.
///
/// Each system is a module in `Systems` and has an entry in the registry of all systems. A capability that a system
/// lacks is `nil` or an empty array. These properties have no default values, so that no system omits one by mistake.
///
/// ```swift
/// let system: any TelemetrySystem = MozillaSystem()
/// let isSent = system.uploads.accepts(Target(path: path))
/// let hasArrived = system.requests.isDelivered(status: 200)
/// ```
public protocol TelemetrySystem: Sendable {
    /// The name in records and options.
    var name: SystemName { get }
    /// The formats of stores, which are none if the system stores nothing on the device.
    var stores: [any StoreFormat] { get }
    /// The format of captured requests.
    var requests: any RequestFormat { get }
    /// The format of uploads and their answers.
    var uploads: any UploadFormat { get }
    /// The documented meanings of events, or `nil` if no events are documented.
    var vocabulary: (any Vocabulary)? { get }
    /// The rules for replacing ids by pseudonyms, or `nil` if the whole payload and the target must be removed instead.
    var pseudonyms: PseudonymFormat? { get }
    /// The conversion of payloads to table rows, or `nil` if payloads have neither events nor tables.
    var rows: (any RowFormat)? { get }
    /// The numbering of uploads, or `nil` if uploads have no sequence numbers.
    var sequence: SequenceFormat? { get }
    /// The rules of Mozilla's pipeline for uploads, or `nil` if other servers receive them.
    var liveTables: (any LiveTableFormat)? { get }
    /// The year of the first version of the SDK, or of the first upload if there is no SDK.
    ///
    /// Earlier times result from a wrong clock.
    var firstYear: Int { get }
    /// The note code for a record that has the id of another record but a different payload.
    ///
    /// The default is case P11 of "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 2.5.
    var repeatedIDCode: String { get }
}

extension TelemetrySystem {
    /// The default code, for systems whose documentation does not define one.
    public var repeatedIDCode: String { "P11" }

    /// The beginning of ``firstYear`` in UTC.
    public var earliestTime: Timestamp {
        let days = CivilDate(year: firstYear, month: 1, day: 1)?.daysSinceEpoch ?? 0
        return Timestamp(clamping: Int64(days) * 86_400_000)
    }
}

/// The known systems, in the order in which reports list them.
///
/// If data can belong to several systems, the last of them takes precedence. Therefore, specific systems follow general
/// ones.
///
/// ```swift
/// let systems = SystemTable([MozillaSystem(), SiftSystem()])
/// let endpoint = systems[.sift]?.uploads.endpoint
/// let kind = systems.storeKind("mozilla-ping-file")
/// ```
public struct SystemTable: Sendable {
    /// The systems, in the order of reports.
    public let all: [any TelemetrySystem]
    private let systems: [CapturedText: any TelemetrySystem]
    private let kinds: [CapturedText: StoreKind]

    /// Creates a table of systems.
    ///
    /// If several systems have the same name, the first of them takes precedence.
    public init(_ systems: [any TelemetrySystem]) {
        all = systems
        self.systems = Dictionary(systems.map { (CapturedText($0.name.description), $0) }) { first, _ in first }
        let kinds = systems.flatMap(\.stores).flatMap(\.kinds) + StoreKind.requestLogs
        self.kinds = Dictionary(kinds.map { (CapturedText($0.description), $0) }) { first, _ in first }
    }

    /// The names of the systems, in the order of reports.
    public var names: [SystemName] { all.map(\.name) }

    /// The names of the systems, separated by commas.
    public var nameList: String { names.map(\.description).joined(separator: ", ") }

    /// Returns the system with a name, or `nil` if there is none.
    public subscript(name: SystemName) -> (any TelemetrySystem)? { systems[name.description] }

    /// Returns the system name equal to `text`, or `nil` if there is none.
    public func name(_ text: String) -> SystemName? { systems[text]?.name }

    /// Returns the kind of store called `text`, or `nil` if there is none.
    public func storeKind(_ text: String) -> StoreKind? { kinds[text] }

    /// Returns the precedence of a system's uploads, or `.none` if the system is unknown.
    public func precedence(of name: SystemName) -> Precedence { self[name]?.uploads.precedence ?? .none }

    /// Returns whether the system called `name` accepts `target`.
    public func isKnown(_ target: Target, to name: SystemName) -> Bool {
        self[name]?.uploads.accepts(target) ?? false
    }
}

/// The name of a system in records, such as `mozilla`.
public struct SystemName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name in records, options and reports.
    public let description: String

    /// Creates a name of lowercase words joined by hyphens.
    public init(_ name: String) { description = name }

    /// Returns whether `left` is before `right` in alphabetical order.
    public static func < (left: SystemName, right: SystemName) -> Bool { left.description < right.description }
}

/// The kind of a store in records and reports, such as `mozilla-ping-file`.
public struct StoreKind: Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind in the member `source.store` of a record.
    public let description: String

    /// Creates a kind with a name of lowercase words joined by hyphens.
    public init(_ name: String) { description = name }

    /// An entry of an HTTP archive, for requests to any system.
    public static let harEntry = StoreKind("har-entry")
    /// A line of an NDJSON file, for payloads of any system.
    public static let ndjsonLine = StoreKind("ndjson-line")

    /// The kinds of request logs.
    ///
    /// A request log can contain the traffic of any number of apps and systems.
    public static let requestLogs: [StoreKind] = [.harEntry, .ndjsonLine]

    /// Whether the store is a request log.
    public var isRequestLog: Bool { Self.requestLogs.contains(self) }
}

/// The documented meanings of the events of a system.
///
/// An event without a documented meaning is not an error.
public protocol Vocabulary: Sendable {
    /// Returns the meaning of each event of `payload`, or `nil` for an unknown event.
    ///
    /// `record` is the summary of the record with the payload. Its app can determine which vocabulary applies. `nested` is
    /// reusable memory for JSON in strings.
    func labels(of payload: JSONDocument, in record: RecordSummary, nested: inout JSONDocument) -> [String?]
}

/// An error in a file that defines events and metrics.
public struct DefinitionsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The reason why a file or a definition cannot be used.
    public let reason: String
    /// The byte offset of the error in the file, or `nil` if it is unknown.
    public let offset: Int?

    /// Creates an error at `offset`.
    public init(_ reason: String, at offset: Int?) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason and the offset in one line, without a full stop.
    public var description: String { offset.map { "\(reason) at byte \($0)" } ?? reason }
}

/// A lookup of the documented meanings of events, with reusable memory.
public struct EventLabeler: Sendable {
    private let systems: SystemTable
    private var payload = JSONDocument()
    private var nested = JSONDocument()

    /// Creates a labeler with the vocabularies of `systems`.
    public init(_ systems: SystemTable) { self.systems = systems }

    /// Returns the meaning of each event in `bytes`, the canonical payload of a record, or `nil` for an unknown event.
    ///
    /// The array is empty if the system has no vocabulary.
    public mutating func labels(of bytes: [UInt8], in record: RecordSummary) -> [String?] {
        guard let vocabulary = systems[record.system]?.vocabulary, (try? payload.read(bytes)) != nil else { return [] }
        defer { payload.reset() }
        return vocabulary.labels(of: payload, in: record, nested: &nested)
    }
}

extension EventLabeler {
    /// Returns the line of a record with an additional member `labels`.
    ///
    /// The member is an array with the meaning of each event, or `null` for an unknown event.
    public mutating func labeled(
        line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, of record: RecordSummary
    ) -> [UInt8] {
        let labels = labels(of: Array(payload), in: record)
        let line = Array(line)
        // In canonical order, `labels` directly precedes `notes`.
        guard let document = try? JSONDocument(line, policy: JSONReadingPolicy(depthLimit: 513, valueLimit: .fixed)),
            let notes = document.value(of: RecordKeys.notes, in: document.root),
            let start = document.sourceRange(of: notes)?.lowerBound
        else { return line }
        let place = start - "\"notes\":".utf8.count
        var labeled = Array(line[..<place])
        labeled += "\"labels\":[".utf8
        for (index, label) in labels.enumerated() {
            if index > 0 { labeled.append(UInt8(ascii: ",")) }
            if let label { labeled.append(jsonString: label) } else { labeled += "null".utf8 }
        }
        labeled += "],".utf8
        labeled += line[place...]
        return labeled
    }
}
