import Bytes
import Telemetry

/// The HTTP request of an upload, without the address of the server.
public struct UploadRequest: Sendable, Equatable {
    /// The HTTP method.
    public let method: String
    /// The percent-encoded path and query.
    public let path: String
    /// The header fields, except for those that the HTTP client adds.
    public let headers: [HeaderField]
    /// The body, which is compressed if there is a header field `Content-Encoding`.
    public let body: [UInt8]
    /// The mask that hides the secrets of the request if a server repeats them in its answer.
    let secrets: SecretMask

    /// Creates the request for a payload, in the format of its system and with the credential of its account.
    package init(
        _ format: UploadFormat, target: Target?, payload: [UInt8], credential: Credential,
        secrets: SecretMask, now: Timestamp, agent: String
    ) throws(RequestError) {
        guard let target, format.accepts(target) else { throw .noTarget }
        let content = try format.content(of: payload, credential: credential, now: now)
        method = target.method ?? format.method
        path = PercentEncoding.encodedPath(target.path)
        var headers = content.headers + target.headerFields
        // Some systems store the name of the app, which then identifies the sender instead of this program.
        if target.headers["User-Agent"] == nil { headers.insert(HeaderField("User-Agent", agent), at: 0) }
        if content.isCompressed { headers.append(HeaderField("Content-Encoding", "gzip")) }
        body = content.isCompressed ? try Gzip.compressed(content.body) : content.body
        self.headers = headers
        self.secrets = secrets
    }
}
