import JSONText
import Telemetry

/// The format of captured calls to Leanplum.
///
/// The body of a call is a form. If the field `action` is `multi`, the field `data` contains stored requests.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.3; "HTTP Archive (HAR) captures
/// as a source of telemetry", sections C, D and H.
struct LeanplumCalls: RequestFormat {
    let hosts = [CapturedHost(LeanplumServer.host), CapturedHost("www.leanplum.com")]
    let methods = ["POST"]
    let body = CapturedBody.form(
        FormBody(
            selector: LeanplumForm.actionField, selected: LeanplumForm.multiAction, payload: LeanplumForm.dataField,
            otherwise: OtherTraffic("leanplum_single_call", "to Leanplum without stored requests in it")))

    func isUpload(_ parts: [[UInt8]]) -> Bool { parts.count == 1 && parts.begin(with: "api") }

    /// Recognizes a payload by the action of its first request, or returns `nil` for any other line.
    func lineShape(of line: JSONDocument) -> LineShape? {
        guard let items = line.array(LeanplumKeys.data, in: line.root), let first = line.firstElement(of: items),
            line.kind(of: first) == .object, line.value(of: LeanplumKeys.action, in: first) != nil
        else { return nil }
        return .payload(isStoredToo: false)
    }

    /// Returns a record with the requests in the form field `data` of a `multi` call.
    ///
    /// The requests are not regrouped, because the call shows how the SDK grouped them.
    ///
    /// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B.1 and C.2; "HTTP Archive
    /// (HAR) captures as a source of telemetry", section H.
    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
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
            if document.leanplumTime(of: request) == nil { findings.note("bad_time@\(index)") }
            let client = document.text(LeanplumKeys.deviceID, in: request)
            if client == nil { findings.note("missing_device_id@\(index)") }
            clients.count(client)
            version = document.text(LeanplumKeys.versionName, in: request) ?? version
        }
        let payload = document.canonicalBytes(of: document.root)
        return upload.completed(
            Record(
                system: .leanplum, type: "multi", id: PayloadHash.id(of: payload), client: clients.first,
                time: upload.time,
                app: App(version: version), payload: payload, source: upload.source, notes: findings.notes,
                held: [findings.hold, clients.hold].compactMap(\.self)),
            defaultTarget: .leanplum)
    }
}

/// The host and the path of requests to Leanplum's servers.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.3 and C.5; "HTTP Archive (HAR)
/// captures as a source of telemetry", sections C and D.
enum LeanplumServer {
    /// The host to which newer SDKs send requests.
    ///
    /// Older SDKs send them to `www.leanplum.com`.
    static let host = "api.leanplum.com"
    static let path = "/api"
}

extension Target {
    /// The target of all requests.
    ///
    /// Stores do not specify any other target.
    static let leanplum = Target(path: LeanplumServer.path)
}
