/// What a server answered to one request.
public struct Answer: Sendable, Equatable {
    /// The status code.
    public var status: Int
    /// How long the server wants to be left alone, in seconds.
    public var retryAfter: Int?
    /// Where a redirect points.
    public var location: String?
    /// The start of the body; see ``bodyLimit``.
    public var body: [UInt8]
    /// Whether the body is all that the server had to say: not if it was cut, or stalled, or is longer than what is kept.
    public var isWhole: Bool
    /// Hides what was sent and nobody may see, for a server may repeat it in the texts of ``excerpt`` and ``line(_:)``.
    package var secrets = SecretMask.none

    /// How much of a body is kept, in bytes: more than the answer to a Leanplum request of 10,000 events takes.
    public static let bodyLimit = 1 << 20

    /// Keeps what was received of an answer.
    public init(
        status: Int, retryAfter: Int? = nil, location: String? = nil, body: [UInt8] = [], isWhole: Bool = true
    ) {
        self.status = status
        self.retryAfter = retryAfter
        self.location = location
        self.body = body
        self.isWhole = isWhole
    }

    /// The body as one short line of printable ASCII, for messages; nil if it is empty.
    package var excerpt: String? {
        let shown = secrets.hiding(body, isCut: !isWhole).prefix(Self.lineLength)
        let printable = shown.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: " ") }
        let words = printable.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
        guard !words.isEmpty else { return nil }
        return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    /// The start of a text that was read out of the answer as one short line, for messages.
    package func line(_ text: String) -> String {
        let shown = String(decoding: secrets.hiding(text.utf8), as: UTF8.self).unicodeScalars.prefix(Self.lineLength)
        return String(String.UnicodeScalarView(shown.filter { $0.properties.generalCategory != .control }))
    }

    /// A reason in words, and what the server says to it.
    package func reason(_ meaning: String) -> String { excerpt.map { "\(meaning): \($0)" } ?? meaning }

    /// How much of a server's text is shown and kept, in characters.
    private static let lineLength = 200
}

/// The header field `Retry-After`. Source: RFC 9110, section 10.2.3.
public enum RetryAfter {
    /// The delay in seconds, from whole seconds or an HTTP date; nil if the value is neither.
    public static func seconds(_ value: String, now: Timestamp) -> Int? {
        if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Int(value) ?? .max }
        guard let date = httpDate(value) else { return nil }
        return max(0, Int((date.milliseconds - now.milliseconds + 999) / 1000))
    }

    /// Reads the one form of date that servers may send today: `Sun, 06 Nov 1994 08:49:37 GMT`.
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
