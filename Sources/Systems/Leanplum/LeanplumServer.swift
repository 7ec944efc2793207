import Telemetry

/// The hosts, the path and the method of requests to Leanplum's servers.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.3 and C.5; "HTTP Archive (HAR)
/// captures as a source of telemetry", sections C and D.
enum LeanplumServer {
    /// The host to which newer SDKs send requests.
    static let host = "api.leanplum.com"
    /// The host to which older SDKs send requests.
    static let olderHost = "www.leanplum.com"
    static let method = "POST"
    static let path = "/api"

    /// The status codes that confirm the delivery of a call.
    static let deliveredStatuses = 200...200
}

extension Target {
    /// The target of all requests.
    ///
    /// Stores do not specify any other target.
    static let leanplum = Target(path: LeanplumServer.path)
}
