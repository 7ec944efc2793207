import Bytes

/// A queued or captured upload in normalized form.
///
/// Records are read from stores and are written to bundles and NDJSON files.
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
    /// The telemetry system that the upload belongs to.
    public var system: SystemName
    /// The type of the upload in the terms of the system, such as `core` or `focus-event`.
    public var type: String
    /// The id that the system uses to detect duplicates.
    ///
    /// If the store contains no id, it is `sha256:` and the hash of the payload.
    public var id: String
    /// The client id, as stored, or `nil` if it is unknown.
    ///
    /// Upload limits are per client.
    public var client: String?
    /// The time at which the device queued the upload, or `nil` if it is unknown.
    public var time: Timestamp?
    /// The app that queued the upload, if it is known.
    public var app: App?
    /// The destination of the upload, or `nil` if the store does not specify it.
    public var target: Target?
    /// The payload as canonical JSON.
    public var payload: [UInt8]
    /// The place in the capture where the record was found.
    public var source: Source
    /// The reasons why the record must not be uploaded as it is.
    public var held: [Hold]
    // `notes` follows `held` so that the memberwise initializer differs from the initializer below.
    /// The changes and unexpected values that normalization noted, each with a case id of the format document.
    public var notes: [String]
}

extension Record {
    /// Creates a record.
    ///
    /// Omitted arguments mean unknown values.
    public init(
        system: SystemName, type: String, id: String, client: String? = nil, time: Timestamp? = nil,
        app: App? = nil, target: Target? = nil, payload: [UInt8], source: Source, notes: [String] = [],
        held: [Hold] = []
    ) {
        // Initializing all properties at once avoids copies of the record.
        self.init(
            system: system, type: type, id: id, client: client, time: time, app: app, target: target, payload: payload,
            source: source, held: held, notes: notes)
    }
}

/// The app that queued a record.
///
/// Unknown properties are `nil`.
public struct App: Sendable, Hashable {
    /// The bundle id or application id.
    @OptionalCapturedText public var id: String?
    /// The name of the app in upload paths.
    @OptionalCapturedText public var name: String?
    /// The version of the app.
    @OptionalCapturedText public var version: String?
    /// The release channel.
    @OptionalCapturedText public var channel: String?
    /// The build id.
    @OptionalCapturedText public var build: String?

    /// Creates an app, or returns `nil` if all properties are unknown.
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

    /// Returns the app with a missing id, name or version taken from `older`.
    public func filled(from older: App) -> App {
        var filled = self
        filled.id = id ?? older.id
        filled.name = name ?? older.name
        filled.version = version ?? older.version
        return filled
    }
}

/// The destination of a record: the method, the path and the header fields of its request.
public struct Target: Sendable, Equatable {
    /// The HTTP method, or `nil` for the default method of the system.
    public var method: String?
    /// The path of the URL, with its query.
    public var path: String
    /// The header fields that are sent with the upload, as permitted by ``UploadFormat/isTargetHeader(_:)``.
    public var headers: [CapturedText: String]

    /// Creates a target.
    public init(path: String, method: String? = nil, headers: [CapturedText: String] = [:]) {
        self.path = path
        self.method = method
        self.headers = headers
    }

    /// The header fields, sorted by the UTF-8 bytes of their names.
    public var headerFields: [HeaderField] {
        guard !headers.isEmpty else { return [] }
        return headers.sorted { $0.key < $1.key }.map { HeaderField($0.key.string, $0.value) }
    }

    /// The maximum number of bytes of an invalid path in a note.
    private static let maximumExcerptSize = 2048

    /// Returns a stored path that is not a valid target, for the note of a record that is held as `no-target`.
    ///
    /// The path can contain the name, version and channel of the app. The end of a long path is omitted, because a
    /// forged path can be megabytes long.
    public static func excerpt(of path: Span<UInt8>) -> String {
        guard path.count > maximumExcerptSize else { return String(readingUTF8: path) }
        var end = maximumExcerptSize
        while end > 0, path[end] & 0xC0 == 0x80 { end -= 1 }
        return String(readingUTF8: path.extracting(..<end)) + "…"
    }
}

/// The place in a capture where a record was found.
public struct Source: Sendable, Equatable {
    /// The label of the capture.
    public var capture: String
    /// The path of the file relative to the root of the capture.
    public var path: String
    /// The kind of the store or request log that contained the record.
    public var store: StoreKind
    /// The index of the record in the file.
    public var index: Int

    /// Creates a source.
    public init(capture: String, path: String, store: StoreKind, index: Int) {
        self.capture = capture
        self.path = path
        self.store = store
        self.index = index
    }

    /// Returns the source of the record at `index` in the same file.
    public func record(at index: Int) -> Source {
        Source(capture: capture, path: path, store: store, index: index)
    }
}

/// A reason why a record must not be uploaded as it is: a code with optional details.
public struct Hold: Sendable, Equatable {
    /// The code, such as `schema` or `no-target`.
    public let code: String
    /// The details of the reason, such as an HTTP status, or `nil` if there are none.
    public let detail: String?

    /// The payload does not have the documented form.
    public static func schema(_ faults: [String]) -> Hold { Hold("schema", faults.joined(separator: "; ")) }
    /// The store does not specify a destination, or the system does not accept the destination.
    public static let noTarget = Hold("no-target")
    /// An event ping contains fewer events than the documented minimum.
    public static let tooFewEvents = Hold("too-few-events")
    /// An event ping contains more events than the documented maximum.
    public static let tooManyEvents = Hold("too-many-events")
    /// The record consists of pending events, which the device may still send itself.
    public static let pendingEvents = Hold("pending-events")
    /// A request contains events of more than one client.
    public static let severalClients = Hold("several-clients")
    /// The record is from a damaged bundle, and its bytes cannot be verified.
    public static let unproven = Hold("unproven")
    /// The record is for analysis only, because its ids are pseudonyms and some values were removed.
    public static let pseudonymized = Hold("pseudonymized")
    /// A request log shows that the upload was delivered.
    public static func delivered(status: Int) -> Hold { Hold(delivered.code, String(status)) }
    /// The upload was delivered with an unknown status.
    static let delivered = Hold("delivered")
    /// The user asked a service to forget the device.
    public static let forgotten = Hold(Withdrawal.Reason.forgotten.rawValue)
    /// The client or profile of the record requested the deletion of its data.
    public static let deletionRequested = Hold(Withdrawal.Reason.deletionRequested.rawValue)
    /// The user has switched off usage data in the settings of the app.
    public static let optedOut = Hold(Withdrawal.Reason.optedOut.rawValue)

    /// Creates a hold from a code and optional details.
    public init(_ code: String, _ detail: String? = nil) {
        self.code = code
        self.detail = detail
    }

    /// Creates a hold from its string in a record.
    public init(text: String) {
        guard let (code, detail) = CapturedText(text).split(atFirst: UInt8(ascii: ":")) else {
            self.init(text)
            return
        }
        self.init(code.string, String(decoding: detail.utf8.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self))
    }

    /// Whether the hold states that the payload does not have the documented form.
    public var isSchema: Bool { code == "schema" }

    /// The string that represents the hold in a record.
    public var text: String { detail.map { "\(code): \($0)" } ?? code }
}

/// A code that specifies why a record is held, with its meaning.
public struct HoldCode: Sendable, Hashable {
    /// The code, such as `schema`.
    public let code: String
    /// The reason why the record is not uploaded, completing a sentence that begins with "the record".
    public let meaning: String
    /// Whether the operator cannot release records with this hold.
    public let isFinal: Bool

    /// Creates a hold code with its meaning.
    public init(_ code: String, _ meaning: String, isFinal: Bool = false) {
        self.code = code
        self.meaning = meaning
        self.isFinal = isFinal
    }

    /// The codes that records of all systems can have.
    ///
    /// Some of these holds are final. For example, the device can still send pending events itself, and an unverifiable
    /// record can contain data that no device recorded.
    public static let shared = [
        HoldCode(Hold.deletionRequested.code, "is of a client or profile that asked for deletion", isFinal: true),
        HoldCode(Hold.delivered.code, "was already delivered; the detail is the HTTP status"),
        HoldCode("foreign-target", "has a target path that belongs to another document"),
        HoldCode("no-target", "has no valid destination in its system", isFinal: true),
        HoldCode(Hold.optedOut.code, "is of a person who has switched off usage data"),
        HoldCode("pending-events", "has unsent events that the device may still send itself", isFinal: true),
        HoldCode("pseudonymized", "contains pseudonyms instead of the original ids", isFinal: true),
        HoldCode("schema", "does not match the documented format; see the detail"),
        HoldCode("several-clients", "contains events of more than one client"),
        HoldCode("too-few-events", "has fewer events than the documented minimum"),
        HoldCode("too-many-events", "has more events than the documented maximum"),
        HoldCode("unproven", "is from a damaged bundle and cannot be verified", isFinal: true),
    ]
}

extension SystemTable {
    /// The hold codes of all systems in alphabetical order.
    public var holdCodes: [HoldCode] { (HoldCode.shared + all.flatMap(\.uploads.holds)).sorted { $0.code < $1.code } }
}

/// A client ID that identifies a client, regardless of the case of ASCII letters.
///
/// Letters that only Unicode regards as equal, such as `k` and the Kelvin sign, are different.
public struct ClientID: Sendable, Hashable, Comparable, ExpressibleByStringLiteral {
    /// The ID with ASCII letters in lowercase.
    public let lowercased: CapturedText

    /// Creates an ID from a spelling of it.
    public init(_ spelling: String) { lowercased = CapturedText(spelling).lowercasedASCII() }

    /// Creates an ID from a literal.
    public init(stringLiteral spelling: String) { self.init(spelling) }

    /// Returns whether `left` is before `right` in the order of the lowercase bytes.
    public static func < (left: ClientID, right: ClientID) -> Bool { left.lowercased < right.lowercased }
}
