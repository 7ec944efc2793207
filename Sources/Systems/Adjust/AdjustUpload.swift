import Bytes
import JSONText
import Telemetry

/// A stored package or a captured request, without its parameters.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.
struct AdjustUpload {
    /// The path of the upload, or `nil` if the server does not accept the path.
    let path: String?
    /// The type of the upload, which follows from the path or, if ``path`` is `nil`, from the stored kind.
    let type: String
    /// The name of the SDK that built the upload, or `nil` if the name cannot be sent in a header field.
    private(set) var sdk: String?
    /// The name of the app, or `nil` if there is none or it cannot be sent in a header field.
    private(set) var agent: String?
    /// The findings about the upload so far.
    var findings = Findings()
    /// Excerpts of the names of the first parameters that are not strings, at most ``maximumNamedCount``.
    var nonStringNames: [String] = []
    /// Whether the server expects a signature.
    var needsSignature: Bool

    /// The version of the SDK that built the request, if it is known.
    let version: [Int]?

    /// Whether the SDK that built the request may have delayed its start, which is assumed if the version is unknown.
    var mayBeDelayed: Bool {
        guard let version else { return true }
        return !version.lexicographicallyPrecedes(Self.firstDelayedVersion)
            && version.lexicographicallyPrecedes(Self.firstSigningVersion)
    }

    private static let firstDelayedVersion = [4, 9]
    /// The first version whose packages require a signature, and which no longer delays its start.
    private static let firstSigningVersion = [5]

    init(path: String?, type: String, sdk: String?, agent: String?, needsSignature: Bool = false) {
        self.path = path
        self.type = type
        let version = sdk.flatMap { AdjustHeaders.version(ofSDK: $0) }
        self.version = version
        self.needsSignature =
            needsSignature || version.map { !$0.lexicographicallyPrecedes(Self.firstSigningVersion) } ?? false
        if let sdk, AdjustHeaders.isValidSDKName(sdk) {
            self.sdk = sdk
        } else {
            findings.note("A16 \(AdjustHeaders.sdkHeader) missing or not allowed in a header")
            findings.fault("\(AdjustHeaders.sdkHeader) missing")
        }
        guard let agent else { return }
        if AdjustHeaders.isValidUserAgent(agent) {
            self.agent = agent
        } else {
            findings.note("A16 \(AdjustHeaders.agentHeader) not allowed in a header")
        }
    }

    /// The target of the upload, or `nil` if the server does not accept the path.
    var target: Target? {
        guard let path else { return nil }
        var headers: [CapturedText: String] = [:]
        headers[AdjustHeaders.sdkHeader] = sdk
        headers[AdjustHeaders.agentHeader] = agent
        return Target(path: path, headers: headers)
    }

    /// Returns the record of the upload without its target, after removing the parameters that are not sent.
    ///
    /// `document` contains the parameters, and this method removes some of them. `isStored` is `true` if the parameters
    /// are from a queue. In this case, a note reports parameters of an attempt. `captureTime` is the time of the record
    /// if the parameters contain no time.
    mutating func record(
        from document: inout JSONDocument, isStored: Bool, captureTime: Timestamp? = nil, state: AdjustState? = nil,
        source: Source
    ) -> Record {
        removeUnsent(from: &document, isStored: isStored)
        checkForm(of: document)
        let time = document.value(of: AdjustParameters.createdAt, .string, in: document.root)
            .flatMap { Timestamp(adjust: document.bytes(of: $0)) }
        if time == nil { findings.note("A5 created_at is missing or not a time") }
        let payload = document.canonicalBytes(of: document.root)
        return Record(
            system: .adjust, type: type, id: PayloadHash.id(of: payload), client: client(in: document),
            time: time ?? captureTime, app: app(in: document), payload: payload, source: source, notes: findings.notes,
            held: holds(state))
    }

    // MARK: Parameters

    private mutating func removeUnsent(from document: inout JSONDocument, isStored: Bool) {
        let root = document.root
        func present(_ keys: [JSONKey]) -> [JSONKey] { keys.filter { document.value(of: $0, in: root) != nil } }
        let credentials = present(AdjustParameters.credentials)
        let attempts = present(AdjustParameters.attempts)
        let isCallbackIDUnsent =
            version?.lexicographicallyPrecedes(AdjustParameters.firstVersionWithCallbackID) ?? false
        let callbackID = isCallbackIDUnsent ? present([AdjustParameters.eventCallbackID]) : []
        let unsent = credentials + attempts + callbackID
        guard !unsent.isEmpty else { return }
        document.removeMembers(from: root) { document, member in
            unsent.contains { document.bytes(of: member.key).equals($0.utf8.span) }
        }
        if !credentials.isEmpty { needsSignature = true }
        // Only a stored package gets a note about parameters of an attempt, because they are normal in a captured
        // request.
        for (code, names) in [("A7", credentials), ("A15", isStored ? attempts : []), ("A12", callbackID)]
        where !names.isEmpty {
            findings.note("\(code) \(names.map(\.description).joined(separator: ", ")) omitted")
        }
    }

    /// Adds a fault for each missing required parameter, and one fault for all parameters that are not strings.
    private mutating func checkForm(of document: JSONDocument) {
        let root = document.root
        let required = [AdjustParameters.appToken, AdjustParameters.createdAt]
        for key in type == AdjustType.event ? required + [AdjustParameters.eventToken] : required
        where document.text(key, in: root) == nil {
            findings.fault("\(key) missing")
        }
        for position in 0..<document.memberCount(of: root) {
            let member = document.member(at: position, of: root)
            guard document.kind(of: member.value) != .string, nonStringNames.count < Self.maximumNamedCount else {
                continue
            }
            nonStringNames.append(document.bytes(of: member.key).adjustExcerpt)
        }
        guard !nonStringNames.isEmpty else { return }
        findings.note("A4 not a string: \(nonStringNames.joined(separator: ", "))")
        findings.fault("a parameter is not a string")
    }

    /// The maximum number of parameters that a note names.
    static let maximumNamedCount = 8
    /// The number of Unicode scalars of a string in a note, because apps can set strings of any length.
    static let excerptLength = 40

    // MARK: Properties of the record

    private func client(in document: JSONDocument) -> String? {
        AdjustParameters.clients.lazy.compactMap { document.text($0, in: document.root) }.first
    }

    private func app(in document: JSONDocument) -> App? {
        let words = agent?.split(separator: " ", omittingEmptySubsequences: false).map(String.init) ?? []
        func word(_ index: Int) -> String? {
            words.count == 8 && words[index] != AppProperty.unknown ? words[index] : nil
        }
        return App(
            id: document.text(AdjustParameters.bundleID, in: document.root) ?? word(0),
            version: document.text(AdjustParameters.appVersionShort, in: document.root),
            build: document.text(AdjustParameters.appVersion, in: document.root) ?? word(1))
    }

    private func holds(_ state: AdjustState?) -> [Hold] {
        var holds: [Hold] = []
        if type != AdjustType.deletionRequest {
            holds.append(AdjustType.consents.contains(type) ? AdjustHold.consent : AdjustHold.attribution)
            if state?.isForgotten == true {
                holds.append(.forgotten)
            } else if state?.isEnabled == false {
                holds.append(AdjustHold.disabled)
            }
        }
        if needsSignature { holds.append(AdjustHold.signature) }
        return holds + [findings.hold].compactMap(\.self)
    }
}

extension Span<UInt8> {
    /// The first Unicode scalars of UTF-8, for notes.
    ///
    /// The rest is not read. A scalar has at most four bytes.
    fileprivate var adjustExcerpt: String {
        let start = String(readingUTF8: extracting(first: 4 * AdjustUpload.excerptLength))
        return String(start.unicodeScalars.prefix(AdjustUpload.excerptLength))
    }
}

/// The types of packages.
///
/// The path of a package determines its type.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.2.
enum AdjustType {
    static let event = "event"
    static let revenue = "revenue"
    static let session = "session"
    /// A request to forget the device, which is sent before all other packages of the client.
    static let deletionRequest = "gdpr"
    static let subscription = "subscription"
    static let purchaseVerification = "purchase_verification"
    /// The type of a package whose path and kind are unknown.
    static let unknown = "unknown"

    /// The types of packages that report a choice of the user on sharing or measurement.
    static let consents: Set<CapturedText> = [
        "disable_third_party_sharing", "measurement_consent", "third_party_sharing",
    ]

    /// The type of each path that the server accepts.
    static let byPath: [CapturedText: String] = [
        "/ad_revenue": "ad_revenue", "/disable_third_party_sharing": "disable_third_party_sharing", "/event": event,
        "/gdpr_forget_device": deletionRequest, "/measurement_consent": "measurement_consent",
        "/reattribute": "reattribution", "/revenue": revenue, "/sdk_click": "click", "/sdk_info": "info",
        "/session": session, "/startup": session, "/third_party_sharing": "third_party_sharing",
        "/v2/purchase": subscription, "/verify": purchaseVerification,
    ]

    /// Returns the documented path whose decoded components are `parts`, or `nil` if there is none.
    static func path(ofParts parts: [[UInt8]]) -> String? {
        let path = parts.map { "/" + String(decoding: $0, as: UTF8.self) }.joined()
        // The slashes are counted, because a decoded component can contain one.
        return byPath[path] != nil && path.utf8.count { $0 == UInt8(ascii: "/") } == parts.count ? path : nil
    }

    /// Returns whether `kind` is the kind that the SDK stores for packages with the path `path`.
    static func isKind(_ kind: String?, ofPath path: String) -> Bool {
        kind == byPath[path] || path == "/startup" && kind == "session start"
    }

    /// Returns whether the stored kind `kind` has the form of a type.
    static func isName(_ kind: String) -> Bool { kind.wholeMatch(of: /[a-z][a-z0-9_]{0,39}/) != nil }
}
