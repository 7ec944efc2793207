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
        isPathOfRecord: isPath(_:ofID:type:), list: nil, credentials: nil, precedence: .none, withdrawals: nil,
        holds: [],
        body: .json(type: "application/json; charset=utf-8", isCompressed: false),
        // Any 2xx status completes an upload, as in the apps. For a request in a log, only status 200 proves the
        // delivery, because another 2xx status may come from a proxy. If the ping was delivered nevertheless, sending
        // it again is harmless, because the server recognizes the document id.
        answers: .status(delivered: 200...299), instructions: nil)

    private static func isPath(_ text: String, ofID id: String, type: String) -> Bool {
        let path = text.utf8.span
        guard let parts = SubmitPath(path) else { return false }
        return path.extracting(parts.documentID).equals(id) && path.extracting(parts.type).equals(type)
    }
}
