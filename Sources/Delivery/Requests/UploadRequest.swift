import Bytes
import Telemetry

/// The request of one upload, without the address of the server: method, path, headers, body.
public struct UploadRequest: Sendable, Equatable {
    /// The HTTP method.
    public let method: String
    /// Path and query, percent-encoded.
    public let path: String
    /// The header fields besides those that HTTP itself needs.
    public let headers: [HeaderField]
    /// The body, in its content encoding.
    public let body: [UInt8]
    /// Hides the secrets of the request in texts of the server, which may repeat them.
    let secrets: SecretMask

    /// Makes the request that a system describes, with the credential of the account that the target and the app name.
    package init(
        _ format: UploadFormat, target: Target?, payload: [UInt8], credential: Credential,
        secrets: SecretMask, now: Timestamp, agent: String
    ) throws(RequestError) {
        guard let target, format.accepts(target) else { throw .noTarget }
        let content = try format.content(of: payload, credential: credential, now: now)
        method = target.method ?? format.method
        path = PercentEncoding.path(target.path)
        var headers = [HeaderField("User-Agent", agent)] + content.headers + target.headerFields
        if content.isCompressed { headers.append(HeaderField("Content-Encoding", "gzip")) }
        body = content.isCompressed ? try Gzip.compressed(content.body) : content.body
        self.headers = headers
        self.secrets = secrets
    }
}
