import JSONText

extension CapturedUpload {
    /// A record of a list request on its way to Sift.
    ///
    /// Source: "Sift iOS SDK: on-disk store, list request", section 6.1; "HTTP Archive (HAR) captures as a source of
    /// telemetry", section H.
    func siftRecord(in document: JSONDocument) throws(BodyFault) -> Record {
        guard let events = document.array(SiftRequestKeys.data, in: document.root) else {
            throw .invalid("data is no array")
        }
        var findings = Findings()
        if document.memberCount(of: document.root) > 1 { findings.fault("keys other than data") }
        var clients = ClientTally()
        for (index, event) in document.elements(of: events).enumerated() {
            SiftEventForm.check(event, name: "data[\(index)]", in: document, findings: &findings)
            clients.count(document.text(SiftRequestKeys.installationID, in: event))
        }
        let payload = document.canonicalBytes(of: document.root)
        return finished(
            Record(
                system: .sift, type: "mobile_events", id: PayloadHash.id(of: payload), client: clients.first,
                time: time,
                payload: payload, source: source, notes: findings.notes,
                held: [findings.hold, clients.hold].compactMap(\.self)))
    }
}

/// The keys of a list request that more is done with than checking their form.
enum SiftRequestKeys {
    static let data: JSONKey = "data"
    static let installationID: JSONKey = "installation_id"
}

/// The documented form of an event in a list request.
private enum SiftEventForm {
    private static let texts: [JSONKey] = [
        "installation_id", "mobile_event_type", "path", "user_id",
    ]
    private static let textMaps: [JSONKey] = ["device_properties", "fields", "metrics"]
    private static let objects: [JSONKey] = ["ios_app_state", "ios_device_properties"]
    private static let time: JSONKey = "time"

    static func check(_ event: JSONNode, name: String, in document: JSONDocument, findings: inout Findings) {
        guard document.kind(of: event) == .object else { return findings.fault("\(name) is no object") }
        if let time = document.value(of: time, in: event) {
            let isTime =
                document.kind(of: time) == .number
                && JSONNumberText.integer(from: document.bytes(of: time)).map {
                    UInt64(String(decoding: $0, as: UTF8.self)) != nil
                } ?? false
            if !isTime { findings.fault("\(name).time is no number of milliseconds") }
        } else {
            findings.fault("\(name).time missing")
        }
        for key in texts where !document.has(key, in: event, of: .string) {
            findings.fault("\(name).\(key) is no string")
        }
        for key in objects where !document.has(key, in: event, of: .object) {
            findings.fault("\(name).\(key) is no object")
        }
        for key in textMaps { check(key, of: event, name: name, in: document, findings: &findings) }
    }

    private static func check(
        _ key: JSONKey, of event: JSONNode, name: String, in document: JSONDocument, findings: inout Findings
    ) {
        guard let map = document.value(of: key, in: event) else { return }
        guard document.kind(of: map) == .object else { return findings.fault("\(name).\(key) is no object") }
        for position in 0..<document.memberCount(of: map) {
            let value = document.member(at: position, of: map).value
            guard document.kind(of: value) == .string else {
                return findings.fault("\(name).\(key) has a value that is no string")
            }
        }
    }
}

/// The clients that the items of a request are of.
struct ClientTally {
    /// The first one met.
    private(set) var first: String?
    private var isMixed = false

    /// Counts the client of an item; an item without one does not count as different.
    mutating func count(_ client: String?) {
        guard let client else { return }
        if let first { isMixed = isMixed || first != client } else { first = client }
    }

    /// Why a request of several clients must not be uploaded.
    var hold: Hold? { isMixed ? .severalClients : nil }
}

extension JSONDocument {
    /// Whether a member is missing or of a kind.
    fileprivate func has(_ key: JSONKey, in object: JSONNode, of kind: JSONKind) -> Bool {
        value(of: key, in: object).map { self.kind(of: $0) == kind } ?? true
    }
}
