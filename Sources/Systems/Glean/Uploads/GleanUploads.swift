import JSONText
import Telemetry

/// The format of ping uploads.
///
/// The body of a ping is compressed, and is sent to the path that the SDK stored with the ping.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 11.
enum GleanUploads {
    /// The host that apps send pings to.
    static let host = "incoming.telemetry.mozilla.org"
    /// The HTTP method of uploads.
    static let method = "POST"

    static let format = UploadFormat(
        endpoint: "https://\(host)", endpointsOfTypes: [:], method: method,
        isTargetPath: { GleanPath($0.utf8.span) != nil }, isTargetHeader: { PingTags.isAllowedTag($0) },
        isPathOfRecord: isPath(_:ofID:type:), list: nil, credentials: nil,
        // Deletion requests are sent before all other pings. If a client has a `deletion-request`, only its deletion
        // requests are sent.
        precedence: Precedence(first: [GleanName.usageDeletionRequest], deletionRequests: [GleanName.deletionRequest]),
        holds: [
            HoldCode("capability", "requires an anonymous upload method, such as OHTTP", isFinal: true),
            HoldCode("incomplete", "is from the folder of unfinished pings, which are not queued"),
            HoldCode("metadata", "has a metadata line that cannot be parsed"),
            HoldCode("headers", "has header fields that are not allowed in uploads"),
        ],
        body: .json(type: "application/json; charset=utf-8", isCompressed: true),
        answers: .status(delivered: 200...299), instructions: nil)

    private static func isPath(_ text: String, ofID id: String, type: String) -> Bool {
        let path = text.utf8.span
        guard let parts = GleanPath(path) else { return false }
        return path.extracting(parts.documentID).equals(id) && path.extracting(parts.ping).equals(type)
    }
}
