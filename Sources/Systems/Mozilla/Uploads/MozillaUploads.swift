import JSONText
import Telemetry

/// The format of ping uploads.
///
/// The measurements are sent unchanged to the path that the app stored with the ping.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 8.1, 8.2 and 8.6.
enum MozillaUploads {
    /// The host that apps send pings to.
    static let host = "incoming.telemetry.mozilla.org"
    /// The HTTP method of uploads.
    static let method = "POST"

    static let format = UploadFormat(
        endpoint: "https://\(host)", endpointsOfTypes: [:], method: method,
        isTargetPath: { SubmitPath($0.utf8.span) != nil }, isTargetHeader: nil,
        isPathOfRecord: isPath(_:ofID:type:), list: nil, credentials: nil, precedence: .none, holds: [],
        body: .json(type: "application/json; charset=utf-8", isCompressed: false),
        // As in the apps, any 2xx status completes an upload. In request logs, only 200 proves a delivery, because another 2xx
        // may come from a proxy. Sending such a ping again is harmless, because the server recognizes its id.
        answers: .status(delivered: 200...299), instructions: nil)

    private static func isPath(_ text: String, ofID id: String, type: String) -> Bool {
        let path = text.utf8.span
        guard let parts = SubmitPath(path) else { return false }
        return path.extracting(parts.documentID).equals(id) && path.extracting(parts.type).equals(type)
    }
}
