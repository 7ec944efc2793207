import JSONText
import Telemetry

/// The format of captured calls to Leanplum.
///
/// The body of a call is a form. If the field `action` is `multi`, the field `data` contains stored requests.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.3; "HTTP Archive (HAR) captures
/// as a source of telemetry", sections C, D and H.
enum LeanplumCalls {
    static let format = RequestFormat(
        hosts: [CapturedHost(LeanplumServer.host), CapturedHost(LeanplumServer.olderHost)],
        methods: [LeanplumServer.method],
        body: .form(
            FormBody(
                selector: LeanplumForm.actionField, selected: LeanplumForm.multiAction, payload: LeanplumForm.dataField,
                otherwise: .leanplumSingleCall)),
        headers: [],
        // Payloads are not repeated, because each request has a time and most have an id.
        secretHeaders: [], payloadsRepeat: false, isUpload: { $0.count == 1 && $0.begin(with: "api") },
        otherTraffic: nil, path: nil,
        deliveredStatuses: LeanplumServer.deliveredStatuses, lineShape: lineShape(of:),
        record: { upload, document throws(BodyError) in try upload.leanplumRecord(in: &document) })

    /// Recognizes a payload by the action of its first request, or returns `nil` for any other line.
    private static func lineShape(of line: JSONDocument) -> LineShape? {
        guard let items = line.array(LeanplumKeys.data, in: line.root), let first = line.firstElement(of: items),
            line.kind(of: first) == .object, line.value(of: LeanplumKeys.action, in: first) != nil
        else { return nil }
        return .payload(isStoredToo: false)
    }
}

extension OtherTraffic {
    /// A call to Leanplum that is not a `multi` call.
    fileprivate static let leanplumSingleCall = OtherTraffic(
        "leanplum_single_call", "to Leanplum without stored requests in it")
}

extension CapturedUpload {
    /// Returns a record with the requests in the form field `data` of a `multi` call.
    ///
    /// The requests are not regrouped, because the call shows how the SDK grouped them.
    ///
    /// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B.1 and C.2; "HTTP Archive
    /// (HAR) captures as a source of telemetry", section H.
    fileprivate func leanplumRecord(in document: inout JSONDocument) throws(BodyError) -> Record {
        guard let requests = document.array(LeanplumKeys.data, in: document.root) else {
            throw .invalid("data is no array")
        }
        var findings = Findings()
        for note in document.removeLeanplumCredentials(from: document.root) { findings.note(note) }
        if document.memberCount(of: document.root) > 1 { findings.fault("keys other than data") }
        var clients = ClientTally()
        var version: String?
        for (index, request) in document.elements(of: requests).enumerated() {
            guard document.kind(of: request) == .object else {
                findings.fault("data[\(index)] is no object")
                continue
            }
            for note in document.removeLeanplumCredentials(from: request) { findings.note("\(note)@\(index)") }
            if document.text(LeanplumKeys.action, in: request) == nil { findings.note("missing_action@\(index)") }
            let client = document.text(LeanplumKeys.deviceID, in: request)
            if client == nil { findings.note("missing_device_id@\(index)") }
            clients.count(client)
            version = document.text(LeanplumKeys.versionName, in: request) ?? version
        }
        let payload = document.canonicalBytes(of: document.root)
        return completed(
            Record(
                system: .leanplum, type: "multi", id: PayloadHash.id(of: payload), client: clients.first, time: time,
                app: App(version: version), payload: payload, source: source, notes: findings.notes,
                held: [findings.hold, clients.hold].compactMap(\.self)),
            defaultTarget: .leanplum)
    }
}

/// The hosts, the path and the method of requests to Leanplum's servers.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.3 and C.5; "HTTP Archive (HAR)
/// captures as a source of telemetry", sections C and D.
enum LeanplumServer {
    /// The host to which newer SDKs send requests.
    static let host = "api.leanplum.com"
    /// The host to which older SDKs send requests.
    static let olderHost = "www.leanplum.com"
    static let method = "POST"
    static let path = "/api"

    /// The status codes that confirm the delivery of a call.
    static let deliveredStatuses = 200...200
}

extension Target {
    /// The target of all requests.
    ///
    /// Stores do not specify any other target.
    static let leanplum = Target(path: LeanplumServer.path)
}
