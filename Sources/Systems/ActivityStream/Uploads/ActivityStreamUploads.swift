import Telemetry

/// The format of uploads to Ping Centre.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", sections 3 and 10.
enum ActivityStreamUploads {
    static let path = "/v3/links/ping-centre"
    /// The host to which released apps send pings.
    static let host = "tiles.services.mozilla.com"
    /// The HTTP statuses with which the server confirms the delivery of a ping.
    static let deliveredStatuses = 200...299

    static let format = UploadFormat(
        endpoint: "https://\(host)", endpointsOfTypes: [:], method: "POST", isTargetPath: { $0 == Self.path },
        isTargetHeader: nil,
        isPathOfRecord: nil, list: nil, credentials: nil, precedence: .none, withdrawals: nil, holds: [],
        body: .json(isCompressed: false), answers: .status(delivered: deliveredStatuses), instructions: nil)
}
