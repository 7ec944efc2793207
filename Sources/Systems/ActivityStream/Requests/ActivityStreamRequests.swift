import JSONText
import Telemetry

/// Captured requests to Ping Centre.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 6 to 8; "HTTP Archive (HAR) captures as
/// a source of telemetry", sections C and D.
struct ActivityStreamRequests: RequestFormat {
    let hosts = [
        CapturedHost(ActivityStreamUploads.host),
        CapturedHost("onyx_tiles.stage.mozaws.net", note: "staging captured on its way to the staging host"),
    ]
    let methods = ["POST"]
    let body = CapturedBody.json
    let headers: Set<String> = []
    let payloadsRepeat = true

    func isUpload(_ parts: [[UInt8]]) -> Bool {
        parts.count == 3 && parts.begin(with: "v3", "links", "ping-centre")
    }

    func otherTraffic(to parts: [[UInt8]], method: String) -> OtherTraffic? {
        method == "POST" && parts.count == 3 && parts.begin(with: "v3", "links", "activity-stream") ? .onyx : nil
    }

    func path(of address: WebAddress) -> String { address.path }

    func isDelivered(status: Int) -> Bool { ActivityStreamUploads.deliveredStatuses.contains(status) }

    func lineShape(of line: JSONDocument) -> LineShape? {
        func has(_ keys: JSONKey...) -> Bool { keys.allSatisfy { line.value(of: $0, in: line.root) != nil } }
        let key = ActivityStreamKeys.self
        let isPing = has(key.topic) || has(key.appVersion, key.event) || has(key.appVersion, key.sessionDuration)
        return isPing ? .payload(isStoredToo: false) : nil
    }

    func record(of upload: CapturedUpload, in document: inout JSONDocument) throws(BodyError) -> Record {
        try upload.activityStreamRecord(in: &document)
    }

    func record(ofStored line: [UInt8], source: Source) throws(BodyError) -> Record {
        throw .invalid("the system stores no files")
    }
}

extension OtherTraffic {
    /// A ping of Activity Stream's predecessor.
    static let onyx = OtherTraffic(
        "onyx", "of Onyx, the predecessor of Activity Stream's pings, which has neither topic nor client")
    /// A ping of another client of Ping Centre.
    static let otherTopic = OtherTraffic("other-topic", "to Ping Centre with a topic of another client")
}
