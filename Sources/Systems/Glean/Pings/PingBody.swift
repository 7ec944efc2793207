import JSONText
import Telemetry

/// What a record has to know of the body of a ping, which is never changed.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 8.1, 8.2 and 9.
struct PingBody {
    /// The client, as spelled; nil where the body names none, or something else than a UUID.
    private(set) var client: String?
    /// When the ping was built.
    private(set) var time: Timestamp?
    /// Version, build and channel, without the id.
    private(set) var version: String?
    private(set) var build: String?
    private(set) var channel: String?
    /// What the body itself asks of an uploader.
    private(set) var capabilities: [String] = []
    /// Whether it has a section of information.
    let hasInfo: Bool
    /// What is worth noting, and what violates the schema.
    private(set) var notes: [String] = []
    private(set) var hold: Hold?

    /// Looks into a body.
    /// - Parameters:
    ///   - document: its root is the body, an object.
    ///   - needsInfo: whether the sections of information must be there; nil where nothing tells, so that the body itself has
    ///     to.
    init(of document: JSONDocument, needsInfo: Bool?) {
        let root = document.root
        let client = document.value(of: GleanKeys.clientInfo, in: root)
        let ping = document.value(of: GleanKeys.pingInfo, in: root)
        hasInfo = client != nil || ping != nil
        if let client { readClient(client, in: document) }
        if let ping { readTime(ping, in: document) }
        if let metrics = document.value(of: GleanKeys.metrics, in: root),
            let lists = document.value(of: GleanKeys.stringLists, in: metrics),
            let asked = document.value(of: GleanKeys.capabilities, in: lists)
        {
            capabilities = document.strings(of: asked) ?? []
        }
        let check = GleanSchema.check(document, needsInfo: needsInfo ?? hasInfo)
        hold = check.findings.hold
        guard check.unknownCount > 0 else { return }
        notes.append("G46 not in the schema: \(NameList.text(check.unknownKeys, of: check.unknownCount))")
    }

    private mutating func readClient(_ info: JSONNode, in document: JSONDocument) {
        version = document.string(at: GleanKeys.appDisplayVersion, in: info)
        build = document.string(at: GleanKeys.appBuild, in: info)
        channel = document.string(at: GleanKeys.appChannel, in: info)
        guard let id = document.value(of: GleanKeys.clientID, .string, in: info), document.bytes(of: id).isUUID else {
            return
        }
        let spelled = document.string(of: id)
        client = spelled
        if GleanName.isPlaceholder(spelled) { notes.append("G41 client id of many installations: a placeholder") }
    }

    private mutating func readTime(_ info: JSONNode, in document: JSONDocument) {
        guard let end = document.value(of: GleanKeys.endTime, .string, in: info) else { return }
        time = PingTime.timestamp(document.bytes(of: end))
        if time == nil { notes.append("G44 ping_info.end_time is no time of the years 0000 to 9999") }
    }
}

extension PingBody {
    /// The app, as far as it is known.
    /// - Parameter id: the app id of the upload path.
    func app(id: String?) -> App? { App(id: id, version: version, channel: channel, build: build) }

    /// What keeps a plain uploader from sending the ping, as it would break a promise [G34].
    /// - Parameter asked: what the metadata ask for.
    func capabilityHold(_ asked: [String]) -> Hold? {
        let names = Set(asked + capabilities).subtracting(["http"]).sorted()
        guard !names.isEmpty else { return nil }
        return Hold("capability", NameList.text(names))
    }
}

extension JSONDocument {
    /// The string at a key, if it is one.
    func string(at key: JSONKey, in object: JSONNode) -> String? {
        value(of: key, .string, in: object).map { string(of: $0) }
    }
}
