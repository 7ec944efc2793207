import Bytes
import JSONText

/// A splitter that divides an NDJSON file into its nonempty lines, which end with LF or CR LF.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 7.
struct LineSplitter: ~Copyable {
    private var pieces: TextPieces
    private var line: LimitedBytes
    /// The offset of the current line, or `nil` before the first piece.
    private var lineStart: Int?
    private let itemLimit: Int
    private var index = 0
    private var isAtEnd = false

    var offset: Int { pieces.offset }

    init(_ log: RequestLog) throws(PlainTextError) {
        pieces = try TextPieces(log.source)
        itemLimit = log.itemLimit
        line = LimitedBytes(byteLimit: log.itemLimit)
    }

    /// Returns the next line or fault, or `nil` at the end.
    mutating func next() -> RawLogItem? {
        while !isAtEnd {
            if !pieces.isConsumed {
                let (part, isEnded) = pieces.advance(past: UInt8(ascii: "\n"))
                let piece = pieces.piece
                line.append(piece.span.extracting(part))
                if isEnded, let item = endLine(at: pieces.currentOffset - 1) { return item }
            } else if pieces.advance() {
                lineStart = lineStart ?? pieces.currentOffset
            } else {
                isAtEnd = true
                // The last line is cut off by the fault, and is reported together with the unreadable rest.
                if let fault = pieces.fault {
                    return RawLogItem(contents: .fault("line_damaged \(fault.reason)"), start: lineStart, end: nil)
                }
                return endLine(at: pieces.offset)
            }
        }
        return nil
    }

    private mutating func endLine(at end: Int) -> RawLogItem? {
        let start = lineStart
        defer {
            line.removeAll()
            lineStart = end + 1
            index += 1
        }
        guard !line.isTooLong else {
            let fault = "line_too_large line \(index + 1): more than \(itemLimit) bytes"
            return RawLogItem(contents: .fault(fault), start: start, end: end)
        }
        if line.bytes.last == UInt8(ascii: "\r") { line.removeLast() }
        guard line.bytes.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else { return nil }
        return RawLogItem(contents: .text(line.bytes.span.copied(), index: index), start: start, end: end)
    }
}
