import Bytes
import CLibrary
import Files
import JSONText
import Telemetry

/// The decoded body of a captured request.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section E.
struct EntryBody {
    /// The decompressed bytes, which are JSON or a form.
    let bytes: [UInt8]
    /// The encoding in the log, which is `text`, `base64`, `latin1`, `surrogateescape` or `file`, and `+gzip` for
    /// compressed bytes.
    let encoding: String

    /// Decodes the text of `postData`.
    ///
    /// `text` is UTF-8, except that lone surrogates are encoded like other code points.
    init(text: Span<UInt8>, isBase64: Bool) throws(BodyError) {
        let (bytes, encoding) = try Self.storedBytes(of: text, isBase64: isBase64)
        try self.init(stored: bytes, encoding: encoding)
    }

    /// Decodes a form from base64 that the entry does not declare, or returns `nil` if `text` is no such form.
    init?(undeclaredBase64Form text: Span<UInt8>) {
        guard !text.contains(UInt8(ascii: "&")),
            let body = try? EntryBody(text: text, isBase64: true), body.bytes.contains(UInt8(ascii: "=")),
            body.bytes.allSatisfy({ (0x21..<0x7F).contains($0) })
        else { return nil }
        self = body
    }

    /// Decompresses the bytes of a body, which are stored in the given encoding.
    init(stored bytes: [UInt8], encoding: String) throws(BodyError) {
        guard Compression.gzip.matches(bytes) else {
            self.bytes = bytes
            self.encoding = encoding
            return
        }
        let (product, isOverflow) = bytes.count.multipliedReportingOverflow(by: InputLimits.requestBodyRatio)
        let limit = min(
            InputLimits.requestBodySize, isOverflow ? .max : max(product, InputLimits.uncheckedRequestBodySize))
        guard let inflated = Inflater.inflate(body: bytes, limit: limit) else {
            throw .invalid("gzip body damaged or too large")
        }
        self.bytes = inflated
        self.encoding = encoding + "+gzip"
    }

    /// Returns the bytes that `text` represents, which may be compressed, and their encoding.
    static func storedBytes(
        of text: Span<UInt8>, isBase64: Bool
    ) throws(BodyError) -> (bytes: [UInt8], encoding: String) {
        if isBase64 {
            guard let bytes = Base64.decoded(text, needsPadding: false, allowsBlanks: false) else {
                throw .invalid("not the base64 that it is said to be")
            }
            return (bytes, "base64")
        }
        if let bytes = text.surrogateEscapedBytes { return (bytes, "surrogateescape") }
        guard !text.isEmpty, text[0] == 0x1F else { return (text.copied(), "text") }
        if let bytes = text.latin1Bytes { return (bytes, "latin1") }
        let bytes = text.copied()
        if bytes.contains(text: "\u{FFFD}") {
            throw .invalid("bytes of the body were replaced by U+FFFD", code: "body_lossy")
        }
        return (bytes, "text")
    }
}

/// The files next to an HTTP archive that contain the bodies of its requests.
///
/// Playwright stores bodies in this way, and names their files in `_file`.
struct AttachedBodies: Sendable {
    let tree: FileTree
    /// The path of the folder in the tree.
    let folder: String

    /// Returns whether a file called `name` may be a body, because its name consists of a SHA-1 hash and a suffix.
    static func isBodyName(_ name: String) -> Bool {
        name.utf8.count > 41 && Array(name.utf8)[40] == UInt8(ascii: ".")
            && name.utf8.prefix(40).allSatisfy { $0.hexadecimalValue != nil }
    }

    /// Returns the contents of the file called `name`, which must be next to the archive.
    func contents(of name: String) throws(BodyError) -> [UInt8] {
        guard !name.utf8.contains(UInt8(ascii: "/")), name.utf8.first != UInt8(ascii: ".") else {
            throw .invalid("the body is in a file outside of the folder", code: "body_missing")
        }
        do throws(FileError) {
            let source = try tree.source(at: tree.entryPathPrefix(ofFolder: folder) + name)
            guard source.count <= InputLimits.requestBodySize else {
                throw FileError(.read, name, code: EFBIG)
            }
            return try source.bytes(at: 0, count: source.count)
        } catch {
            throw .invalid("the body is in a file that cannot be read: \(error)", code: "body_missing")
        }
    }
}

extension Span<UInt8> {
    /// The bytes with each lone surrogate from U+DC80 to U+DCFF replaced by the byte that the surrogate represents, or
    /// `nil` if there are no such surrogates.
    fileprivate var surrogateEscapedBytes: [UInt8]? {
        guard hasEscapedByte else { return nil }
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

    /// The bytes of a gzip body that was decoded as Latin-1, or `nil` if the text is not such a body.
    fileprivate var latin1Bytes: [UInt8]? {
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

    private var hasEscapedByte: Bool {
        var index = 0
        while let first = firstIndex(of: 0xED, from: index), first + 1 < count {
            if self[first + 1] == 0xB2 || self[first + 1] == 0xB3 { return true }
            index = first + 1
        }
        return false
    }
}
