import JSONText
import Telemetry

/// Describes uploads of pings. The measurements are sent unchanged, to the path that the app stored with the ping.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 8.1, 8.2 and 8.6.
enum MozillaUploads {
    /// The host that apps send to.
    static let host = "incoming.telemetry.mozilla.org"
    /// The method that apps send with.
    static let method = "POST"

    static let format = UploadFormat(
        endpoint: "https://\(host)", method: method,
        isTargetPath: { SubmitPath($0.utf8.span) != nil }, isTargetHeader: nil,
        isPathOfRecord: isPath(_:ofID:type:), list: nil, credentials: nil, precedence: .none, holds: [],
        body: .json(type: "application/json; charset=utf-8", isCompressed: false),
        // Any 2xx ends an upload, as it does for the apps. In request logs only 200 proves a delivery, because another 2xx may
        // come from a proxy. Sending such a ping again does no harm, because the server knows its id.
        answers: .status(delivered: 200...299))

    private static func isPath(_ text: String, ofID id: String, type: String) -> Bool {
        let path = text.utf8.span
        guard let parts = SubmitPath(path) else { return false }
        return path.extracting(parts.documentID).equals(id) && path.extracting(parts.type).equals(type)
    }
}
