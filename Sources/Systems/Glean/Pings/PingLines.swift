import Bytes
import JSONText
import Telemetry

/// The byte ranges of the lines of a ping file: the upload path, the body and the metadata of the SDK.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 4 and 10.
struct PingLines {
    /// The range of the first line, without its line ending.
    let path: Range<Int>
    /// The range of the second line, without its line ending.
    let body: Range<Int>
    /// The range to quarantine if the body is invalid, which is the second line without its line feed.
    let bodyLine: Range<Int>
    /// The range of the third line without its line ending, or `nil` if the line is missing or blank.
    let metadata: Range<Int>?
    private(set) var notes: [String] = []

    /// Finds the lines, or throws an error if the second line is missing or blank, or one of the first two is not text.
    init(_ bytes: [UInt8]) throws(PingFileError) {
        guard !bytes.isEmpty else { throw PingFileError("G1 empty file") }
        let hasByteOrderMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let start = hasByteOrderMark ? 3 : 0
        var lines = LineCursor(from: start)
        let end = bytes.count..<bytes.count
        let first = lines.next(in: bytes.span)?.range ?? end
        let second = lines.next(in: bytes.span)?.range ?? end
        try Self.checkText(bytes[start..<second.upperBound])
        guard first.upperBound + 1 < bytes.count else { throw PingFileError("G2 no body: no second line") }
        path = Self.withoutCarriageReturn(first, in: bytes)
        body = Self.withoutCarriageReturn(second, in: bytes)
        bodyLine = second
        guard bytes[body].contains(where: { !$0.isBlank }) else {
            throw PingFileError("G3 blank body", offset: second.lowerBound, length: second.count)
        }
        let third = lines.next(in: bytes.span)?.range ?? end
        let trimmed = Self.withoutCarriageReturn(third, in: bytes)
        metadata = bytes[trimmed].contains { !$0.isBlank } ? trimmed : nil
        if hasByteOrderMark { notes.append("G12 byte order mark left out") }
        if path != first || body != second || trimmed != third { notes.append("G11 lines end in CR LF") }
        if third.upperBound < bytes.count, bytes[third.upperBound...].contains(where: { !$0.isBlank }) {
            notes.append("G13 text behind the third line ignored")
        }
    }

    private static func checkText(_ bytes: ArraySlice<UInt8>) throws(PingFileError) {
        guard !bytes.contains(0) else { throw PingFileError("G8 NUL bytes") }
        guard (try? UTF8Span(validating: bytes.span)) != nil else { throw PingFileError("G9 not UTF-8") }
    }

    private static func withoutCarriageReturn(_ line: Range<Int>, in bytes: [UInt8]) -> Range<Int> {
        guard let last = bytes[line].last, last == UInt8(ascii: "\r") else { return line }
        return line.lowerBound..<line.upperBound - 1
    }
}

/// The error for a file that does not contain a valid ping.
struct PingFileError: Error {
    /// The reason for rejecting the file, and the span of the file to quarantine.
    let reject: Reject

    init(_ reason: String, offset: Int? = nil, length: Int? = nil) {
        reject = Reject(reason, offset: offset, length: length)
    }

    /// Creates an error for an invalid body in the range `line`.
    init(_ reason: String, line: Range<Int>) {
        self.init(reason, offset: line.lowerBound, length: line.count)
    }
}
