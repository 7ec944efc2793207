import Bytes
import CZlib
import HTTP
import Synchronization
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
            fields: headers,
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

/// One request and its answer, with limits on time and size.
///
/// The HTTP client reports the progress to the exchange and asks it how long to wait. A server that sends data very
/// slowly must not delay the job. The exchange has no clock. Its methods receive the time of each event.
///
/// A class, because the client and the sender share it.
final class Exchange: HTTPReceiver {
    /// The limit that ends an exchange.
    enum TimeoutCause: Sendable {
        /// The exchange takes too long as a whole.
        case deadline
        /// The server sends no data for too long, or sends data too slowly.
        case silence
        /// The job was stopped.
        case stop
    }

    private struct State {
        var head: HTTPResponseHead?
        /// The time at which the head of the answer arrived, or `nil` if it has not arrived.
        var headArrival: ContinuousClock.Instant?
        var body: [UInt8] = []
        /// The number of bytes of the body that have arrived.
        var length = 0
        /// The time at which the last data from the server arrived, or at which sending began if no data has arrived.
        ///
        /// The value is `nil` until sending begins.
        var lastActivity: ContinuousClock.Instant?
        /// The time by which the exchange must end because the job was stopped, or `nil` if it was not stopped.
        var stop: ContinuousClock.Instant?
    }

    private let deadline: ContinuousClock.Instant
    private let idleLimit: Duration
    private let state = Mutex(State())

    /// The time in which answers must arrive after the job was stopped, because the job has to end within 5 seconds.
    private static let stopGracePeriod = Duration.seconds(3)
    /// The maximum number of bytes of a body that are read in order to reuse the connection.
    private static let bodyReadLimit = 16 * Answer.bodyLimit
    /// The minimum average rate of a body, in bytes per second, after the idle limit has passed.
    ///
    /// Answers are a few hundred bytes long, so only a server that deliberately sends slowly is below this rate.
    private static let minimumBodyRate = 1000
    static let keptFields = ["location", "retry-after"]

    init(totalLimit: Duration, idleLimit: Duration, from start: ContinuousClock.Instant = .now) {
        deadline = start + totalLimit
        self.idleLimit = idleLimit
    }

    // MARK: HTTPReceiver

    func didStartSending(at instant: ContinuousClock.Instant) {
        state.withLock { state in
            if state.headArrival == nil { state.lastActivity = instant }
        }
    }

    /// Stores the head of the answer, after which the request counts as answered.
    func didReceiveHead(_ head: HTTPResponseHead, at instant: ContinuousClock.Instant) {
        state.withLock { state in
            state.head = head
            state.headArrival = state.headArrival ?? instant
            state.lastActivity = instant
        }
    }

    func didReceiveBody(_ part: Span<UInt8>, at instant: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            state.length += part.count
            state.lastActivity = instant
            let accepted = min(part.count, Answer.bodyLimit - state.body.count)
            for index in 0..<accepted { state.body.append(part[index]) }
            return state.length <= Self.bodyReadLimit
        }
    }

    var end: ContinuousClock.Instant { expiry.end }

    /// The time at which the exchange ends unless more data arrives, and the limit that determines it.
    var expiry: (end: ContinuousClock.Instant, cause: TimeoutCause) {
        let state = state.withLock { $0 }
        var limit = (end: deadline, cause: TimeoutCause.deadline)
        if let last = state.lastActivity, last + idleLimit < limit.end { limit = (last + idleLimit, .silence) }
        if let headArrival = state.headArrival {
            let slowest = headArrival + idleLimit + .milliseconds(state.length * 1000 / Self.minimumBodyRate)
            if slowest < limit.end { limit = (slowest, .silence) }
        }
        if let stop = state.stop, stop < limit.end { limit = (stop, .stop) }
        return limit
    }

    // MARK: Result

    /// Shortens the remaining time, because the job was stopped.
    func stop(at instant: ContinuousClock.Instant = .now) {
        let end = instant + Self.stopGracePeriod
        state.withLock { $0.stop = min($0.stop ?? end, end) }
    }

    /// Returns the received part of the answer to a request that ended with `end`, or `nil` if no head was received.
    func answer(_ end: HTTPOutcome) -> (head: HTTPResponseHead, body: [UInt8], isWhole: Bool)? {
        state.withLock { state in
            guard let head = state.head else { return nil }
            return (head, state.body, end == .complete && state.length == state.body.count)
        }
    }
}
