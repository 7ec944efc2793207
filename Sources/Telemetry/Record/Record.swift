/// One upload: what every transform yields, and what a bundle and an NDJSON file hold.
///
/// ```swift
/// var line: [UInt8] = []
/// record.write(to: &line)
/// var document = JSONDocument()
/// let same = try Record(line: Array(line.dropLast()), using: &document, knowing: Systems.table)
/// ```
///
/// Source: "The record".
public struct Record: Sendable, Equatable {
    /// Whose documented format the payload has.
    public var system: SystemName
    /// The system's own name of this kind of upload: `core`, `focus-event`, ….
    public var type: String
    /// What the system de-duplicates by, exactly as stored; `sha256:` and the hash of the payload where there is none.
    public var id: String
    /// The client whose limits this record counts against, as stored.
    public var client: String?
    /// When the device queued it.
    public var time: Timestamp?
    /// The app, as far as it is known.
    public var app: App?
    /// Where it would be sent; nil where the store does not say.
    public var target: Target?
    /// The documented format as canonical JSON: the bytes of the request body.
    public var payload: [UInt8]
    /// Where it was found.
    public var source: Source
    /// Why it must not be uploaded as it stands; empty when it may.
    public var held: [Hold]
    // Behind `held`: by this order the initializer that Swift makes is another one than that below.
    /// What normalization changed or found odd: a case id of the format document, a space, free text.
    public var notes: [String]
}

extension Record {
    /// Collects the parts of a record; what is not given is unknown.
    public init(
        system: SystemName, type: String, id: String, client: String? = nil, time: Timestamp? = nil,
        app: App? = nil, target: Target? = nil, payload: [UInt8], source: Source, notes: [String] = [],
        held: [Hold] = []
    ) {
        // One value is made of all parts: set one by one they would be put together, copied and let go of.
        self.init(
            system: system, type: type, id: id, client: client, time: time, app: app, target: target, payload: payload,
            source: source, held: held, notes: notes)
    }
}

/// The app that queued a record; what is unknown is nil.
public struct App: Sendable, Hashable {
    /// Bundle or application id.
    public var id: String?
    /// The name in upload paths.
    public var name: String?
    /// The version.
    public var version: String?
    /// The release channel.
    public var channel: String?
    /// The build id.
    public var build: String?

    /// Makes an app description; nil if nothing at all is known.
    public init?(
        id: String? = nil, name: String? = nil, version: String? = nil, channel: String? = nil, build: String? = nil
    ) {
        if id == nil, name == nil, version == nil, channel == nil, build == nil { return nil }
        self.id = id
        self.name = name
        self.version = version
        self.channel = channel
        self.build = build
    }

    /// The same app, with id, name and version from an older description where it has none.
    public func filled(from older: App) -> App {
        var filled = self
        filled.id = id ?? older.id
        filled.name = name ?? older.name
        filled.version = version ?? older.version
        return filled
    }
}

/// Where a record would be sent: never a host, never a secret.
public struct Target: Sendable, Equatable {
    /// The HTTP method where it is not the system's default.
    public var method: String?
    /// Path and query.
    public var path: String
    /// The header fields that belong to the upload itself and are sent with it, by name; mostly none. A system says which it
    /// knows: see ``UploadFormat/isTargetHeader``.
    public var headers: [String: String]

    /// Says where a record would go, and how if that is not as usual.
    public init(path: String, method: String? = nil, headers: [String: String] = [:]) {
        self.path = path
        self.method = method
        self.headers = headers
    }

    /// The header fields in the order in which they are written and sent: by the UTF-8 bytes of their names.
    public var headerFields: [HeaderField] {
        guard !headers.isEmpty else { return [] }
        return headers.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
            HeaderField($0.key, $0.value)
        }
    }
}

/// Where a record was found.
public struct Source: Sendable, Equatable {
    /// The label of the capture.
    public var capture: String
    /// The file, relative to the root of the capture.
    public var path: String
    /// The kind of store.
    public var store: StoreKind
    /// The place in the file, from 0.
    public var index: Int

    /// Says where a record was found.
    public init(capture: String, path: String, store: StoreKind, index: Int) {
        self.capture = capture
        self.path = path
        self.store = store
        self.index = index
    }
}

/// Why a record must not be uploaded as it stands: a code, and details after a colon where there are any.
public struct Hold: Sendable, Equatable {
    /// The reason: `schema`, `no-target`, ….
    public let code: String
    /// More about it.
    public let detail: String?

    /// The payload does not have the documented form.
    public static func schema(_ faults: [String]) -> Hold { Hold("schema", faults.joined(separator: "; ")) }
    /// The store does not say where the record would go, or names no place in the system's grammar.
    public static let noTarget = Hold("no-target")
    /// An event ping with fewer events than a ping is built from.
    public static let tooFewEvents = Hold("too-few-events")
    /// An event ping with more events than the documented count.
    public static let tooManyEvents = Hold("too-many-events")
    /// Events that the phone may still send itself.
    public static let pendingEvents = Hold("pending-events")
    /// A request with events of more than one client.
    public static let severalClients = Hold("several-clients")
    /// It was read from a damaged bundle, and nothing proves that its bytes are those that were packed.
    public static let unproven = Hold("unproven")
    /// Its ids are pseudonyms, and parts of it are left out: it is for analysis alone.
    public static let pseudonymized = Hold("pseudonymized")
    /// A request log shows that it arrived.
    public static func delivered(status: Int) -> Hold { Hold("delivered", String(status)) }

    /// Makes a hold from its parts.
    public init(_ code: String, _ detail: String? = nil) {
        self.code = code
        self.detail = detail
    }

    /// Makes a hold from its text.
    public init(text: String) {
        if let colon = text.firstIndex(of: ":") {
            self.init(
                String(text[..<colon]), String(text[text.index(after: colon)...].drop { $0 == " " }))
        } else {
            self.init(text)
        }
    }

    /// Whether the payload does not have the documented form.
    public var isSchema: Bool { code == "schema" }

    /// The hold as it stands in a record.
    public var text: String { detail.map { "\(code): \($0)" } ?? code }
}
