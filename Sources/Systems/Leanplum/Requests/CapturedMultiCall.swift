import JSONText
import Telemetry

extension CapturedUpload {
    /// Returns a record with the requests in the form field `data` of a `multi` call.
    ///
    /// The requests are not regrouped, because the call shows how the SDK grouped them.
    ///
    /// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B.1 and C.2; "HTTP Archive
    /// (HAR) captures as a source of telemetry", section H.
    func leanplumRecord(in document: inout JSONDocument) throws(BodyError) -> Record {
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
