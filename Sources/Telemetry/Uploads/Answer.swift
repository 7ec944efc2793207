import Bytes

/// The response of a server to a request.
public struct Answer: Sendable, Equatable {
    /// The HTTP status code.
    public var status: Int
    /// The delay in seconds that the server requests before the next request, or `nil` if it requests none.
    public var retryAfter: Int?
    /// The destination of a redirect, or `nil` if the answer states none.
    public var location: String?
    /// The first ``bodyLimit`` bytes of the body.
    public var body: [UInt8]
    /// Whether the body is complete.
    ///
    /// The body is incomplete if the transfer was interrupted, stalled or limited.
    public var isWhole: Bool
    /// The mask that hides credentials in ``excerpt`` and ``line(_:)``.
    ///
    /// The mask is needed because a server can repeat credentials in its answer.
    package var secrets = SecretMask.none

    /// The maximum number of bytes of a body that are kept.
    ///
    /// Even an answer to 10,000 Leanplum events is shorter.
    public static let bodyLimit = 1 << 20

    /// Creates an answer.
    public init(
        status: Int, retryAfter: Int? = nil, location: String? = nil, body: [UInt8] = [], isWhole: Bool = true
    ) {
        self.status = status
        self.retryAfter = retryAfter
        self.location = location
        self.body = body
        self.isWhole = isWhole
    }

    /// The body as a short line of printable ASCII for messages, or `nil` if the body is empty.
    package var excerpt: String? {
        let shown = secrets.masked(body, isTruncated: !isWhole).prefix(Self.maximumLineLength)
        let printable = shown.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: " ") }
        let words = printable.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
        guard !words.isEmpty else { return nil }
        return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    /// Returns the beginning of a string from the server as a short line for messages.
    package func line(_ text: String) -> String {
        let shown = String(decoding: secrets.masked(text.utf8), as: UTF8.self).unicodeScalars.prefix(
            Self.maximumLineLength)
        return String(String.UnicodeScalarView(shown.filter { $0.properties.generalCategory != .control }))
    }

    /// Returns `meaning` and the excerpt of the body, joined by a colon, as the reason for an outcome.
    package func reason(_ meaning: String) -> String { excerpt.map { "\(meaning): \($0)" } ?? meaning }

    /// The maximum number of characters of an answer that are shown and stored.
    private static let maximumLineLength = 200
}

/// A parser for the header field `Retry-After`.
///
/// Source: RFC 9110, section 10.2.3.
public enum RetryAfter {
    /// Returns the delay in seconds from `now` that `value` specifies, or `nil` if `value` is neither a number of
    /// seconds nor an HTTP date.
    public static func seconds(_ value: String, now: Timestamp) -> Int? {
        if !value.isEmpty, value.utf8.allSatisfy(\.isDigit) { return Int(value) ?? .max }
        guard let date = httpDate(value) else { return nil }
        return max(0, Int((date.milliseconds - now.milliseconds + 999) / 1000))
    }

    /// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Returns `nil` if `value` is not such a date. Servers must not send dates in any other format.
    private static func httpDate(_ value: String) -> Timestamp? {
        let parts = value.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[5] == "GMT", parts[1].utf8.count == 2,
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// The instructions for further uploads in the body of an answer.
public struct AnswerInstructions: Sendable, Equatable {
    /// The delay in seconds after which the upload must be sent again, or `nil` if the server does not request this.
    ///
    /// A requested delay takes precedence over the status of the answer. If a system specifies milliseconds, they are
    /// rounded up.
    public var retryDelay: Int?
    /// The delay in seconds before the next upload of the same client, or `nil` if the server requests no delay.
    public var nextDelay: Double?
    /// Whether the server accepts no more uploads of the client, for example because its data must be deleted.
    public var endsClient: Bool

    /// Creates instructions, which by default request nothing.
    public init(retryDelay: Int? = nil, nextDelay: Double? = nil, endsClient: Bool = false) {
        self.retryDelay = retryDelay
        self.nextDelay = nextDelay
        self.endsClient = endsClient
    }
}

/// The outcome of an upload attempt.
public enum Outcome: Sendable, Equatable {
    /// The server accepted the upload. `note` describes the server's complaint about the contents, or is `nil` if there
    /// is none.
    case delivered(status: Int, note: String? = nil)
    /// The server will never accept the upload.
    case refused(status: Int, reason: String)
    /// The server did not accept the upload, but it can be retried.
    ///
    /// The upload does not count against the quota unless an earlier attempt may have been delivered. `status` is `nil`
    /// if no HTTP status explains the outcome.
    case retryLater(status: Int? = nil, reason: String)
    /// The upload may have been delivered.
    ///
    /// The upload remains in flight, and the next job sends it again with the same id. It counts once against the
    /// quota.
    case unknown(reason: String)
    /// The credential is wrong.
    ///
    /// The upload counts as not sent. However, it remains in flight if an earlier attempt may have been delivered.
    case credentialWrong(status: Int, reason: String, mayHaveArrived: Bool = false)
}

extension Outcome {
    /// Returns the outcome of an upload that the server refused with `answer`.
    ///
    /// The reason consists of the meaning of the HTTP status and an excerpt of the body.
    package static func refused(_ answer: Answer) -> Outcome {
        .refused(status: answer.status, reason: answer.reason(meaning(of: answer.status)))
    }

    private static func meaning(of status: Int) -> String {
        switch status {
        case 200..<300: "the server does not confirm it with status 200"
        case 400: "the server cannot read the request"
        case 404: "the server does not know the path"
        case 405: "the server does not accept the method"
        case 411: "the server requires the length of the body"
        case 413: "the body is too large"
        case 414, 431: "the path or a header is too long"
        default: "the server rejects the request"
        }
    }
}
