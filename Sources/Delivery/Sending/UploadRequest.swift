import Bytes
import CZlib
import HTTP
import Telemetry

/// The HTTP request of an upload, without the address of the server.
struct UploadRequest: Sendable, Equatable {
    /// The request, whose body is compressed if there is a header field `Content-Encoding`.
    let http: HTTPRequest
    /// The mask that hides the secrets of the request if a server repeats them in its answer.
    let secrets: SecretMask

    /// Creates the request for a payload, in the format of its system and with the credential of its account.
    init(
        _ format: any UploadFormat, target: Target?, payload: [UInt8], credential: Credential,
        secrets: SecretMask, now: Timestamp, agent: String
    ) throws(RequestError) {
        guard let target, format.accepts(target) else { throw .noTarget }
        let content = try format.content(of: payload, credential: credential, now: now)
        var headers = content.headers + target.headerFields
        // Some systems store the name of the app, which then identifies the sender instead of this program.
        if target.headers["User-Agent"] == nil { headers.insert(HeaderField("User-Agent", agent), at: 0) }
        if content.isCompressed { headers.append(HeaderField("Content-Encoding", "gzip")) }
        http = HTTPRequest(
            method: target.method ?? format.method, target: PercentEncoding.encodedPath(target.path),
            fields: headers.map { HTTPField($0.name, $0.value) },
            body: content.isCompressed ? try Gzip.compressed(content.body) : content.body)
        self.secrets = secrets
    }
}

/// Compression in the gzip format of RFC 1952.
enum Gzip {
    /// Returns the compressed bytes, with no name or time in the header so that equal input gives equal output.
    static func compressed(_ bytes: [UInt8]) throws(RequestError) -> [UInt8] {
        var stream = z_stream()
        var code = pingferry_gzip_init(&stream, Z_DEFAULT_COMPRESSION)
        guard code == Z_OK else { throw failure(code) }
        defer { deflateEnd(&stream) }
        // zlib counts the input in 32 bits. Request bodies are far smaller.
        guard let length = UInt32(exactly: bytes.count) else { throw failure(Z_BUF_ERROR) }
        let limit = Int(deflateBound(&stream, uLong(bytes.count)))
        var input = bytes
        let output = [UInt8](unsafeUninitializedCapacity: limit) { output, count in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = length
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(clamping: limit)
                code = deflate(&stream, Z_FINISH)
            }
            count = limit - Int(stream.avail_out)
        }
        guard code == Z_STREAM_END else { throw failure(code) }
        return output
    }

    private static func failure(_ code: Int32) -> RequestError {
        .notCompressed("zlib cannot compress the body (code \(code))")
    }
}
