import Bytes
import JSONText
import Telemetry

/// The format of captured requests to Ping Centre.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 6 to 8; "HTTP Archive (HAR)
/// captures as a source of telemetry", sections C and D.
struct ActivityStreamRequests: RequestFormat {
    let hosts = [
        CapturedHost(ActivityStreamUploads.host),
        CapturedHost("onyx_tiles.stage.mozaws.net", note: "staging captured on its way to the staging host"),
    ]
    let methods = ["POST"]
    let payloadsRepeat = true
    let deliveredStatuses = ActivityStreamUploads().deliveredStatuses

    func isUpload(_ parts: [[UInt8]]) -> Bool { parts.count == 3 && parts.begin(with: "v3", "links", "ping-centre") }

    func otherTraffic(to parts: [[UInt8]], method: String) -> OtherTraffic? {
        method == "POST" && parts.count == 3 && parts.begin(with: "v3", "links", "activity-stream") ? .onyx : nil
    }

    func lineShape(of line: JSONDocument) -> LineShape? {
        let (key, root) = (ActivityStreamKeys.self, line.root)
        let isPing =
            line.has(key.topic, in: root) || line.has(key.appVersion, key.event, in: root)
            || line.has(key.appVersion, key.sessionDuration, in: root)
        return isPing ? .payload(isStoredToo: false) : nil
    }
}

extension OtherTraffic {
    /// The pings of Activity Stream's predecessor.
    static let onyx = OtherTraffic(
        "onyx", "of Onyx, the predecessor of Activity Stream's pings, which has neither topic nor client")
    /// The pings of other clients of Ping Centre.
    static let otherTopic = OtherTraffic("other-topic", "to Ping Centre with a topic of another client")
}

extension ActivityStreamRequests {
    /// Returns the record of a captured ping, or of a batch of pings.
    ///
    /// A batch becomes a single record, because its pings have neither a client nor a time. The server splits the
    /// batch.
    ///
    /// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 4, 6, 7.1 and 10.
    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        let root = document.root
        var findings = Findings()
        let topic = try topic(of: root, in: document, findings: &findings)
        let time = upload.time ?? Self.serverTime(of: root, in: document)
        if time == nil, document.value(of: ActivityStreamKeys.timestamp, in: root) != nil {
            findings.note("A10 timestamp: not a time in milliseconds")
        }
        let removed = document.removeMembers(ActivityStreamKeys.serverKeys, from: root)
        if !removed.isEmpty {
            findings.note("A10 \(removed.joined(separator: ", ")): added by the server, left out")
        }
        let batch = document.value(of: ActivityStreamKeys.payloads, in: root)
        if let batch {
            Self.normalizeBatch(batch, topic: topic, in: &document, findings: &findings)
        } else {
            ActivityStreamFields.normalize(root, topic: topic, at: "", in: &document, findings: &findings)
        }
        let client = document.text(ActivityStreamKeys.clientID, in: root)
        if client == nil { findings.note(Self.missingClientNote(for: batch, in: document)) }
        let payload = document.canonicalBytes(of: root)
        let hash = PayloadHash.id(of: payload)
        return upload.completed(
            Record(
                system: .activityStream, type: topic.rawValue, id: time.map { "\(hash)@\($0)" } ?? hash, client: client,
                time: time, app: Self.app(of: batch.flatMap { document.firstElement(of: $0) } ?? root, in: document),
                payload: payload, source: upload.source, notes: findings.notes,
                held: [findings.hold].compactMap(\.self)),
            defaultTarget: Target(path: ActivityStreamUploads.path))
    }

    /// Returns the topic of the ping or batch in `root`.
    ///
    /// If the topic is missing, it is inferred from other members, because some builds omitted it [A1].
    private func topic(of root: JSONNode, in document: JSONDocument, findings: inout Findings) throws(BodyError)
        -> ActivityStreamTopic
    {
        if let value = document.value(of: ActivityStreamKeys.topic, in: root) {
            guard document.kind(of: value) == .string else { throw .invalid("topic is no string") }
            guard let topic = ActivityStreamTopic(rawValue: document.string(of: value)) else {
                throw .foreign(.otherTopic)
            }
            return topic
        }
        findings.fault("topic missing")
        for (key, topic) in [
            (ActivityStreamKeys.sessionDuration, ActivityStreamTopic.sessions), (ActivityStreamKeys.event, .events),
        ] where document.value(of: key, in: root) != nil {
            findings.note("topic absent; inferred from \(key)")
            return topic
        }
        throw .invalid("neither topic nor event nor session_duration")
    }

    private static func normalizeBatch(
        _ batch: JSONNode, topic: ActivityStreamTopic, in document: inout JSONDocument, findings: inout Findings
    ) {
        guard document.kind(of: batch) == .array, document.count(of: batch) > 0 else {
            return findings.fault("A3 batch without payloads")
        }
        if document.value(of: ActivityStreamKeys.batchMode, in: document.root).map({ document.kind(of: $0) }) != .true {
            findings.note("A4 payloads without batch-mode: the server does not take them apart")
        }
        for (index, payload) in document.elements(of: batch).enumerated() {
            guard document.kind(of: payload) == .object else {
                findings.fault("payloads[\(index)] is no object")
                continue
            }
            ActivityStreamFields.normalize(
                payload, topic: topic, at: "payloads[\(index)]", in: &document, findings: &findings)
        }
    }

    private static func missingClientNote(for batch: JSONNode?, in document: JSONDocument) -> String {
        if let batch { return "batch of \(document.count(of: batch).counted("payload")) without client_id" }
        return document.value(of: ActivityStreamKeys.clientID, in: document.root) == nil
            ? "client_id absent" : "A12 client_id is empty"
    }

    // MARK: Values that the server adds in its own log [A10]

    private static func serverTime(of root: JSONNode, in document: JSONDocument) -> Timestamp? {
        guard let value = document.value(of: ActivityStreamKeys.timestamp, .number, in: root) else { return nil }
        return Timestamp(decimalMilliseconds: document.bytes(of: value))
    }

    private static func app(of payload: JSONNode, in document: JSONDocument) -> App? {
        App(
            version: document.text(ActivityStreamKeys.appVersion, in: payload),
            channel: document.text(ActivityStreamKeys.channel, in: payload),
            build: document.text(ActivityStreamKeys.build, in: payload))
    }
}

// MARK: - Uploads

/// The format of uploads to Ping Centre.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 3 and 10.
struct ActivityStreamUploads: UploadFormat {
    static let path = "/v3/links/ping-centre"
    /// The host to which released apps send pings.
    static let host = "tiles.services.mozilla.com"

    let endpoint = "https://\(host)"
    let deliveredStatuses = 200...299

    func isTargetPath(_ path: String) -> Bool { path == Self.path }
}
