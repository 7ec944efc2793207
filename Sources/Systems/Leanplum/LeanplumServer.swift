import Telemetry

/// Hosts, path and method of Leanplum's servers, for captured requests and for uploads alike.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.3 and C.5; "HTTP Archive (HAR)
/// captures as a source of telemetry", sections C and D.
enum LeanplumServer {
    /// The host that the SDK sends to.
    static let host = "api.leanplum.com"
    /// The host that older SDKs sent to.
    static let olderHost = "www.leanplum.com"
    /// The method of all calls.
    static let method = "POST"
    /// The path of all calls.
    static let path = "/api"

    /// The only status by which the server confirms a call. The body of the answer states the outcome of each request.
    static let deliveredStatuses = 200...200
}

extension Target {
    /// Where a Leanplum request goes by default; apps can name another host and path, which no store tells.
    static let leanplum = Target(path: LeanplumServer.path)
}
