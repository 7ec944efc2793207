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
    static let leanplumSingleCall = OtherTraffic("leanplum_single_call", "to Leanplum without stored requests in it")
}
