/// A system of telemetry: all that the floors above have to be told of it, so that none of them knows a system by name.
///
/// A system lives in a room of its own below `Systems` and is listed in the one table there. Nothing here has a default:
/// a room that leaves something out does not compile.
///
/// ```swift
/// let system: any TelemetrySystem = MozillaSystem()
/// let isSent = system.uploads.accepts(Target(path: path))
/// let hasArrived = system.requests.isDelivered(status: 200)
/// ```
public protocol TelemetrySystem: Sendable {
    /// Its name in records and options.
    var name: SystemName { get }
    /// The format of the stores, or `nil` if the system stores nothing on the device.
    var stores: StoreFormat? { get }
    /// How captured requests of it are recognized and read.
    var requests: RequestFormat { get }
    /// How an upload of it is made, and what the answers mean.
    var uploads: UploadFormat { get }
    /// The documented meanings of its events.
    var vocabulary: any Vocabulary { get }
    /// What becomes of its records when they get pseudonyms.
    var pseudonyms: any PseudonymFormat { get }
    /// How its records become rows of tables.
    var rows: any RowFormat { get }
    /// The code that begins the note of a record whose id an earlier record has too, with another payload.
    var repeatedIDCode: String { get }
}

extension TelemetrySystem {
    /// The kinds of the stores. Empty if the system stores nothing on the device.
    public var storeKinds: [StoreKind] { stores?.kinds ?? [] }
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
        let kinds = systems.flatMap(\.storeKinds) + [.harEntry, .ndjsonLine]
        self.kinds = Dictionary(kinds.map { ($0.description, $0) }) { first, _ in first }
    }

    /// The names of the systems in their order.
    public var names: [SystemName] { all.map(\.name) }

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
