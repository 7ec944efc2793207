import Bytes
import JSONText
import Telemetry

/// A stored package or a captured request, without its parameters.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.
struct AdjustUpload {
    /// The path, if the server accepts it.
    let path: String?
    /// The type, which the path determines.
    let type: String
    /// The name of the SDK that built the request, if it can be sent.
    private(set) var sdk: String?
    /// The name of the app, if the request has one that can be sent.
    private(set) var agent: String?
    /// The findings so far.
    var findings = Findings()
    /// Whether the server expects a signature.
    var needsSignature: Bool

    /// The version of the SDK that built the request, if it is known.
    let version: [Int]?

    private static let firstSigningVersion = [5]

    init(path: String?, type: String, sdk: String?, agent: String?, needsSignature: Bool = false) {
        self.path = path
        self.type = type
        let version = sdk.flatMap { AdjustClient.version(ofSDK: $0) }
        self.version = version
        self.needsSignature =
            needsSignature || version.map { !$0.isVersion(before: Self.firstSigningVersion) } ?? false
        if let sdk, AdjustClient.isSDK(sdk) {
            self.sdk = sdk
        } else {
            findings.note("A16 \(AdjustClient.sdkHeader) missing or not allowed in a header")
            findings.fault("\(AdjustClient.sdkHeader) missing")
        }
        guard let agent else { return }
        if AdjustClient.isAgent(agent) {
            self.agent = agent
        } else {
            findings.note("A16 \(AdjustClient.agentHeader) not allowed in a header")
        }
    }

    /// The destination, or `nil` if the server does not accept the path.
    var target: Target? {
        guard let path else { return nil }
        var headers: [String: String] = [:]
        headers[AdjustClient.sdkHeader] = sdk
        headers[AdjustClient.agentHeader] = agent
        return Target(path: path, headers: headers)
    }

    /// Returns the record of the upload without its target, and removes parameters that are not sent from `document`.
    ///
    /// If `isStored` is `true`, the parameters are from a queue, which never contains those of an attempt. `captureTime` is
    /// used if the parameters contain no time.
    mutating func record(
        from document: inout JSONDocument, isStored: Bool, captureTime: Timestamp? = nil, state: AdjustState? = nil,
        source: Source
    ) -> Record {
        removeUnsent(from: &document, isStored: isStored)
        checkForm(of: document)
        let time = document.value(of: AdjustParameters.createdAt, .string, in: document.root)
            .flatMap { Timestamp(adjust: document.bytes(of: $0)) }
        if time == nil { findings.note("A5 created_at is missing or no time") }
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
        let isCallbackIDSent =
            version.map { !$0.isVersion(before: AdjustParameters.firstVersionWithCallbackID) } ?? true
        let callbackID = isCallbackIDSent ? [] : present([AdjustParameters.eventCallbackID])
        let unsent = credentials + attempts + callbackID
        guard !unsent.isEmpty else { return }
        document.removeMembers(from: root) { document, member in
            unsent.contains { document.bytes(of: member.key).equals($0.utf8.span) }
        }
        if !credentials.isEmpty { needsSignature = true }
        // A request contains the parameters of its attempt, but a stored package does not.
        for (code, names) in [("A7", credentials), ("A15", isStored ? attempts : []), ("A12", callbackID)]
        where !names.isEmpty {
            findings.note("\(code) \(names.map(\.description).joined(separator: ", ")) left out")
        }
    }

    /// Adds a fault for each parameter that is required and missing, or that is not a string.
    private mutating func checkForm(of document: JSONDocument) {
        let root = document.root
        let required = [AdjustParameters.appToken, AdjustParameters.createdAt]
        for key in type == AdjustType.event ? required + [AdjustParameters.eventToken] : required
        where document.text(key, in: root) == nil {
            findings.fault("\(key) missing")
        }
        var odd: [String] = []
        for position in 0..<document.memberCount(of: root) {
            let member = document.member(at: position, of: root)
            if document.kind(of: member.value) != .string { odd.append(document.string(of: member.key)) }
        }
        addOddValues(odd)
    }

    /// Adds a note and a fault for parameters whose values are not strings.
    mutating func addOddValues(_ names: [String]) {
        guard !names.isEmpty else { return }
        let shown = names.prefix(Self.maximumNamedCount).map { $0.prefix(Self.maximumNameLength) }
        findings.note("A4 \(shown.joined(separator: ", ")): no string")
        findings.fault("a parameter is no string")
    }

    private static let (maximumNamedCount, maximumNameLength) = (8, 40)

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
                holds.append(AdjustHold.forgotten)
            } else if state?.isEnabled == false {
                holds.append(AdjustHold.disabled)
            }
        }
        if needsSignature { holds.append(AdjustHold.signature) }
        return holds + [findings.hold].compactMap(\.self)
    }
}

/// The holds of records, except for those that all systems share.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", section 7.3.
enum AdjustHold {
    static let attribution = Hold("attribution")
    static let consent = Hold("consent")
    static let disabled = Hold("disabled")
    static let forgotten = Hold("forgotten")
    static let signature = Hold("signature")
    static let superseded = Hold("superseded")

    static let codes = [
        HoldCode(attribution.code, "would count late, as an installation, a session or fraud"),
        HoldCode(consent.code, "contains a choice that the user may have changed since"),
        HoldCode(disabled.code, "is from an app whose SDK is switched off"),
        HoldCode(forgotten.code, "is from a device that the user asked Adjust to forget", isFinal: true),
        HoldCode(signature.code, "would lack the signature that the server may demand"),
        HoldCode(superseded.code, "was sent or dropped by a newer version of the SDK"),
    ]
}
