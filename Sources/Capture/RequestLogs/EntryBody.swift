import Bytes
import JSONText
import Telemetry

/// The body of a request, recovered from how an archive spells it.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section E.
struct EntryBody {
    /// The bytes, decompressed: JSON, or for Leanplum a form.
    let bytes: [UInt8]
    /// How they were spelled: `text`, `base64`, `latin1`, `surrogateescape`, each with `+gzip` where compressed.
    let spelling: String

    /// The most bytes that a body may inflate to.
    static let inflatedLimit = 32 << 20
    /// No body of text inflates to more than this many times its length.
    static let inflationLimit = 200

    /// Recovers the bytes from the text of `postData`, which is UTF-8 with lone surrogates encoded in the same way.
    init(text: Span<UInt8>, isBase64: Bool) throws(BodyError) {
        let (bytes, spelling) = try Self.storedBytes(of: text, isBase64: isBase64)
        guard bytes.starts(with: [0x1F, 0x8B]) else {
            self.bytes = bytes
            self.spelling = spelling
            return
        }
        let (product, isOverflow) = bytes.count.multipliedReportingOverflow(by: Self.inflationLimit)
        let limit = isOverflow ? Self.inflatedLimit : min(Self.inflatedLimit, max(product, 1 << 16))
        guard let inflated = Inflater.inflate(body: bytes, limit: limit) else { throw .invalid("gzip body damaged or too large") }
        self.bytes = inflated
        self.spelling = spelling + "+gzip"
    }

    /// Returns the bytes that a text stands for, before they are decompressed, and how they are spelled.
    static func storedBytes(
        of text: Span<UInt8>, isBase64: Bool
    ) throws(BodyError) -> (bytes: [UInt8], spelling: String) {
        if isBase64 {
            guard let bytes = Base64.decoded(text, needsPadding: false, allowsBlanks: false) else {
                throw .invalid("not the base64 that it is said to be")
            }
            return (bytes, "base64")
        }
        if let bytes = text.escapedBytes { return (bytes, "surrogateescape") }
        guard !text.isEmpty, text[0] == 0x1F else { return (text.copied(), "text") }
        if let bytes = text.bytesOfLatin1 { return (bytes, "latin1") }
        let bytes = text.copied()
        if bytes.contains(text: "\u{FFFD}") {
            throw .invalid("bytes of the body were replaced by U+FFFD", code: "body_lossy")
        }
        return (bytes, "text")
    }
}

extension Span<UInt8> {
    /// Where the lone surrogates U+DC80 to U+DCFF stand for the bytes 0x80 to 0xFF: the bytes; nil if there is none.
    fileprivate var escapedBytes: [UInt8]? {
        guard holdsEscapedByte else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var index = 0
        while index < count {
            let byte = self[index]
            if byte == 0xED, index + 2 < count, self[index + 1] == 0xB2 || self[index + 1] == 0xB3 {
                bytes.append((self[index + 1] & 1) << 6 | self[index + 2] & 0x3F | 0x80)
                index += 3
            } else {
                bytes.append(byte)
                index += 1
            }
        }
        return bytes
    }

    /// Where every code point is at most U+00FF and the second one U+008B, as a gzip body begins: a byte for each.
    fileprivate var bytesOfLatin1: [UInt8]? {
        guard count > 2, self[1] == 0xC2, self[2] == 0x8B else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var index = 0
        while index < count {
            let byte = self[index]
            if byte < 0x80 {
                bytes.append(byte)
                index += 1
            } else if byte == 0xC2 || byte == 0xC3, index + 1 < count {
                bytes.append((byte & 1) << 6 | self[index + 1] & 0x3F | 0x80)
                index += 2
            } else {
                return nil
            }
        }
        return bytes
    }

    private var holdsEscapedByte: Bool {
        var index = 0
        while let first = firstIndex(of: 0xED, from: index), first + 1 < count {
            if self[first + 1] == 0xB2 || self[first + 1] == 0xB3 { return true }
            index = first + 1
        }
        return false
    }
}
