import JSONText
import Telemetry

/// The format of captured requests to Ping Centre.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 6 to 8; "HTTP Archive (HAR)
/// captures as a source of telemetry", sections C and D.
enum ActivityStreamRequests {
    static let format = RequestFormat(
        hosts: [
            CapturedHost(ActivityStreamUploads.host),
            CapturedHost("onyx_tiles.stage.mozaws.net", note: "staging captured on its way to the staging host"),
        ],
        methods: ["POST"], body: .json, headers: [], secretHeaders: [], payloadsRepeat: true,
        isUpload: { $0.count == 3 && $0.begin(with: "v3", "links", "ping-centre") },
        otherTraffic: otherTraffic(to:method:), path: nil,
        deliveredStatuses: ActivityStreamUploads.deliveredStatuses, lineShape: lineShape(of:),
        record: { upload, document throws(BodyError) in try upload.activityStreamRecord(in: &document) })

    private static func otherTraffic(to parts: [[UInt8]], method: String) -> OtherTraffic? {
        method == "POST" && parts.count == 3 && parts.begin(with: "v3", "links", "activity-stream") ? .onyx : nil
    }

    private static func lineShape(of line: JSONDocument) -> LineShape? {
        func has(_ keys: JSONKey...) -> Bool { keys.allSatisfy { line.value(of: $0, in: line.root) != nil } }
        let key = ActivityStreamKeys.self
        let isPing = has(key.topic) || has(key.appVersion, key.event) || has(key.appVersion, key.sessionDuration)
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
