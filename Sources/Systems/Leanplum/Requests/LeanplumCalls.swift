import JSONText
import Telemetry

/// Captured calls to Leanplum: a call is a form, and where its `action` is `multi`, it has stored requests in the field
/// `data`.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.3; "HTTP Archive (HAR) captures as a
/// source of telemetry", sections C, D and H.
struct LeanplumCalls: RequestFormat {
    var hosts: [CapturedHost] { [CapturedHost(LeanplumServer.host), CapturedHost(LeanplumServer.olderHost)] }
    var methods: [String] { [LeanplumServer.method] }

    var body: CapturedBody {
        .form(
            FormBody(
                selector: LeanplumForm.action, selected: LeanplumForm.multi, payload: LeanplumForm.data,
                otherwise: .leanplumSingleCall))
    }

    /// Requests have a time each, and most an id.
    var headers: Set<String> { [] }
    var payloadsRepeat: Bool { false }

    func isUpload(_ parts: [[UInt8]]) -> Bool { parts.count == 1 && parts.begin(with: "api") }

    func otherTraffic(to parts: [[UInt8]], method: String) -> OtherTraffic? { nil }

    func path(of address: WebAddress) -> String { address.path }

    func isDelivered(status: Int) -> Bool { LeanplumServer.deliveredStatuses.contains(status) }

    /// A list whose first item has an action is one of requests.
    func lineShape(of line: JSONDocument) -> LineShape? {
        guard let items = line.array(LeanplumKeys.data, in: line.root), let first = line.firstElement(of: items),
            line.kind(of: first) == .object, line.value(of: LeanplumKeys.action, in: first) != nil
        else { return nil }
        return .payload(isStoredToo: false)
    }

    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        try upload.leanplumRecord(in: &document)
    }

    /// Never asked for, since ``lineShape(of:)`` takes no line for a file of a store.
    func record(ofStored line: [UInt8], source: Source) throws(BodyError) -> Record {
        throw .invalid("no file of Leanplum's stores is a line of JSON")
    }
}

extension OtherTraffic {
    /// A call to Leanplum that is no `multi` call.
    static let leanplumSingleCall = OtherTraffic(
        "leanplum_single_call", "to Leanplum without stored requests in it")
}
