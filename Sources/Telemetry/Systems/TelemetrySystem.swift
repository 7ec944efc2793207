/// A system of telemetry, described so that the layers above know no system by name.
///
/// Each system is a module below `Systems` and an entry in the registry there. A system states each capability that it lacks
/// as `nil`, so that an omission does not compile.
///
/// ```swift
/// let system: any TelemetrySystem = MozillaSystem()
/// let isSent = system.uploads.accepts(Target(path: path))
/// let hasArrived = system.requests.isDelivered(status: 200)
/// ```
public protocol TelemetrySystem: Sendable {
    /// The name in records and options.
    var name: SystemName { get }
    /// How stores are recognized and read, or `nil` if the system stores nothing on the device.
    var stores: StoreFormat? { get }
    /// How captured requests are recognized and read.
    var requests: RequestFormat { get }
    /// How uploads are made, and what the answers mean.
    var uploads: UploadFormat { get }
    /// The documented meanings of events, or `nil` if no events are documented.
    var vocabulary: (any Vocabulary)? { get }
    /// The rules by which records get pseudonyms, or `nil` if nothing of a payload and of a target may be kept.
    var pseudonyms: PseudonymFormat? { get }
    /// How payloads become rows of tables, or `nil` if they have neither events nor tables.
    var rows: (any RowFormat)? { get }
    /// The code at the beginning of the note of a record whose id is repeated with another payload.
    ///
    /// The default is case P11 of "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 2.5.
    var repeatedIDCode: String { get }
}

extension TelemetrySystem {
    /// The kinds of the stores. Empty if the system stores nothing on the device.
    public var storeKinds: [StoreKind] { stores?.kinds ?? [] }

    /// The code for systems whose format document has no code of its own.
    public var repeatedIDCode: String { "P11" }
}

/// The systems that are known, in the order in which reports list them.
///
/// A system that comes later is asked first whether something is its own: what is particular is told before what is general.
///
/// ```swift
/// let systems = SystemTable([MozillaSystem(), SiftSystem()])
/// let endpoint = systems[.sift]?.uploads.endpoint
/// let kind = systems.storeKind("mozilla-ping-file")
/// ```
public struct SystemTable: Sendable {
    /// The systems in their order.
    public let all: [any TelemetrySystem]
    private let systems: [String: any TelemetrySystem]
    private let kinds: [String: StoreKind]

    /// Lists systems in an order; of two with one name, the first counts.
    public init(_ systems: [any TelemetrySystem]) {
        all = systems
        self.systems = Dictionary(systems.map { ($0.name.description, $0) }) { first, _ in first }
        let kinds = systems.flatMap(\.storeKinds) + StoreKind.requestLogs
        self.kinds = Dictionary(kinds.map { ($0.description, $0) }) { first, _ in first }
    }

    /// The names of the systems in their order.
    public var names: [SystemName] { all.map(\.name) }

    /// The names of the systems in their order, separated by commas.
    public var nameList: String { names.map(\.description).joined(separator: ", ") }

    /// A system by its name; nil if there is none.
    public subscript(name: SystemName) -> (any TelemetrySystem)? { systems[name.description] }

    /// The name that a text is; nil if no system has it.
    public func name(_ text: String) -> SystemName? { systems[text]?.name }

    /// The kind of store that a text names; nil if there is none.
    public func storeKind(_ text: String) -> StoreKind? { kinds[text] }

    /// Which records of a system go first.
    public func precedence(of name: SystemName) -> Precedence { self[name]?.uploads.precedence ?? .none }

    /// Whether a target is one that records of a system may have: see ``UploadFormat/accepts(_:)``.
    public func isKnown(_ target: Target, to name: SystemName) -> Bool {
        self[name]?.uploads.accepts(target) ?? false
    }
}
