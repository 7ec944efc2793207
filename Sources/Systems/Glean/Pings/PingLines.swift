import Bytes
import JSONText
import Telemetry

/// The lines of a ping file: the path, the body, and what the SDK notes for itself.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 4 and 10.
struct PingLines {
    /// The first line, without its end.
    let path: Range<Int>
    /// The second line, without its end.
    let body: Range<Int>
    /// The second line without its line feed, which is what goes to quarantine.
    let bodyLine: Range<Int>
    /// The third line, without its end; nil if it is missing or blank.
    let metadata: Range<Int>?
    /// What is odd about the lines.
    private(set) var notes: [String] = []

    /// Finds the lines of a file.
    /// - Throws: ``PingFileError`` for a file without two good lines.
    init(_ bytes: [UInt8]) throws(PingFileError) {
        guard !bytes.isEmpty else { throw PingFileError("G1 empty file") }
        let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        let start = hasMark ? 3 : 0
        var lines = LineCursor(from: start)
        let end = bytes.count..<bytes.count
        let first = lines.next(in: bytes.span)?.range ?? end
        let second = lines.next(in: bytes.span)?.range ?? end
        try Self.check(bytes[start..<second.upperBound])
        guard first.upperBound + 1 < bytes.count else { throw PingFileError("G2 no body: no second line") }
        path = Self.withoutReturn(first, in: bytes)
        body = Self.withoutReturn(second, in: bytes)
        bodyLine = second
        guard bytes[body].contains(where: { !$0.isBlank }) else {
            throw PingFileError("G3 blank body", offset: second.lowerBound, length: second.count)
        }
        let third = lines.next(in: bytes.span)?.range ?? end
        let trimmed = Self.withoutReturn(third, in: bytes)
        metadata = bytes[trimmed].contains { !$0.isBlank } ? trimmed : nil
        if hasMark { notes.append("G12 byte order mark left out") }
        if path != first || body != second || trimmed != third { notes.append("G11 lines end in CR LF") }
        if third.upperBound < bytes.count, bytes[third.upperBound...].contains(where: { !$0.isBlank }) {
            notes.append("G13 text behind the third line ignored")
        }
    }

    /// What may stand in the first two lines.
    private static func check(_ bytes: ArraySlice<UInt8>) throws(PingFileError) {
        guard !bytes.contains(0) else { throw PingFileError("G8 NUL bytes") }
        guard (try? UTF8Span(validating: bytes.span)) != nil else { throw PingFileError("G9 not UTF-8") }
    }

    private static func withoutReturn(_ line: Range<Int>, in bytes: [UInt8]) -> Range<Int> {
        guard let last = bytes[line].last, last == UInt8(ascii: "\r") else { return line }
        return line.lowerBound..<line.upperBound - 1
    }
}

/// Why a file is no ping file.
struct PingFileError: Error {
    /// Goes to quarantine with the file, or with a span of it.
    let reject: Reject

    init(_ reason: String, offset: Int? = nil, length: Int? = nil) {
        reject = Reject(reason, offset: offset, length: length)
    }

    /// A body that is not as it should be.
    init(_ reason: String, line: Range<Int>) {
        self.init(reason, offset: line.lowerBound, length: line.count)
    }
}
