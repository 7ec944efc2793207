import Telemetry

/// The hosts, the path and the method of Leanplum's servers, for captured requests and for uploads.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.3 and C.5; "HTTP Archive (HAR)
/// captures as a source of telemetry", sections C and D.
enum LeanplumServer {
    /// The host that the SDK sends to.
    static let host = "api.leanplum.com"
    /// The host that older SDKs sent to.
    static let olderHost = "www.leanplum.com"
    static let method = "POST"
    static let path = "/api"

    /// The only status with which the server confirms a call.
    static let deliveredStatuses = 200...200
}

extension Target {
    /// The target of all requests, because no store contains a configured host or path.
    static let leanplum = Target(path: LeanplumServer.path)
}
