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
    /// The header fields with the name of the SDK that built the upload and the name of the app, if they can be sent.
    private(set) var headers: [CapturedText: String] = [:]
    /// The number of failed attempts to send the upload, or 0 if it is unknown.
    var attempts = 0
    /// The findings about the upload so far.
    var findings = Findings()
    /// Excerpts of the names of the first parameters that are not strings, at most ``maximumNamedCount``.
    var nonStringNames: [String] = []
    /// Whether the server expects a signature.
    var needsSignature: Bool

    /// The version of the SDK that built the request, if it is known.
    let version: [Int]?

    /// Whether the SDK that built the request may have delayed its start, as versions 4.9 to 4.38 do.
    ///
    /// This is assumed if the version is unknown.
    var mayBeDelayed: Bool {
        version?.lexicographicallyPrecedes([4, 9]) != true && version?.lexicographicallyPrecedes([5]) != false
    }

    init(path: String?, type: String, sdk: String?, agent: String?, needsSignature: Bool = false) {
        self.path = path
        self.type = type
        version = sdk.flatMap { AdjustHeaders.version(ofSDK: $0) }
        // Since version 5, the SDK signs all requests.
        self.needsSignature = needsSignature || version?.lexicographicallyPrecedes([5]) == false
        if let sdk, AdjustHeaders.isValidSDKName(sdk) {
            headers[AdjustHeaders.sdkHeader] = sdk
        } else {
            findings.note("A16 \(AdjustHeaders.sdkHeader) missing or not allowed in a header")
            findings.fault("\(AdjustHeaders.sdkHeader) missing")
        }
        if let agent, AdjustHeaders.isValidUserAgent(agent) {
            headers[AdjustHeaders.agentHeader] = agent
        } else if agent != nil {
            findings.note("A16 \(AdjustHeaders.agentHeader) not allowed in a header")
        }
    }

    /// Returns the record of the upload, after removing the parameters that are not sent.
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
            time: time ?? captureTime, app: app(in: document), target: path.map { Target(path: $0, headers: headers) },
            payload: payload, source: source, notes: findings.notes, held: holds(state))
    }

    // MARK: Parameters

    private mutating func removeUnsent(from document: inout JSONDocument, isStored: Bool) {
        let credentials = document.removeMembers(AdjustParameters.credentials, from: document.root)
        let attempts = document.removeMembers(AdjustParameters.attempts, from: document.root)
        let callbackID = version?.lexicographicallyPrecedes([4, 35, 2]) == true ? [AdjustParameters.callbackID] : []
        let unsent = document.removeMembers(callbackID, from: document.root)
        if !credentials.isEmpty { needsSignature = true }
        // Only a stored package gets a note about parameters of an attempt, because they are normal in a captured
        // request.
        for (code, names) in [("A7", credentials), ("A15", isStored ? attempts : []), ("A12", unsent)]
        where !names.isEmpty {
            findings.note("\(code) \(names.joined(separator: ", ")) omitted")
        }
    }

    /// Adds a fault for each missing required parameter, and one fault for all parameters that are not strings.
    private mutating func checkForm(of document: JSONDocument) {
        let root = document.root
        let eventToken = type == AdjustType.event ? [AdjustParameters.eventToken] : []
        for key in [AdjustParameters.appToken, AdjustParameters.createdAt] + eventToken
        where document.text(key, in: root) == nil { findings.fault("\(key) missing") }
        for member in document.members(of: root)
        where document.kind(of: member.value) != .string && nonStringNames.count < Self.maximumNamedCount {
            let name = String(readingUTF8: document.bytes(of: member.key), scalarCount: Self.excerptLength)
            nonStringNames.append(name)
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
        let agent = headers[AdjustHeaders.agentHeader] ?? ""
        let words = agent.split(separator: " ", omittingEmptySubsequences: false)
        let known = words.count == 8 ? words.map { $0 == AppProperty.unknown ? nil : String($0) } : [nil, nil]
        return App(
            id: document.text(AdjustParameters.bundleID, in: document.root) ?? known[0],
            version: document.text(AdjustParameters.appVersionShort, in: document.root),
            build: document.text(AdjustParameters.appVersion, in: document.root) ?? known[1])
    }

    private func holds(_ state: AdjustState?) -> [Hold] {
        var holds: [Hold] = []
        if type != AdjustType.deletionRequest {
            holds.append(Hold(AdjustType.consents.contains(type) ? "consent" : "attribution"))
            if state?.isForgotten == true {
                holds.append(.forgotten)
            } else if state?.isEnabled == false {
                holds.append(Hold("disabled"))
            }
        }
        if needsSignature { holds.append(Hold("signature")) }
        return holds + [findings.hold, path == nil ? .noTarget : nil].compactMap(\.self)
    }
}

/// The types of packages.
///
/// The path of a package determines its type.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.2.
enum AdjustType {
    static let event = "event"
    static let session = "session"
    /// A request to forget the device, which is sent before all other packages of the client.
    static let deletionRequest = "gdpr"
    static let subscription = "subscription"
    static let purchaseVerification = "purchase_verification"

    /// The types of packages that report a choice of the user on sharing or measurement.
    static let consents: Set<CapturedText> = [
        "disable_third_party_sharing", "measurement_consent", "third_party_sharing",
    ]

    /// The type of each path that the server accepts.
    static let byPath: [CapturedText: String] = [
        "/ad_revenue": "ad_revenue", "/disable_third_party_sharing": "disable_third_party_sharing", "/event": event,
        "/gdpr_forget_device": deletionRequest, "/measurement_consent": "measurement_consent",
        "/reattribute": "reattribution", "/revenue": "revenue", "/sdk_click": "click", "/sdk_info": "info",
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
