import Bytes
import Telemetry

/// Goes through an NDJSON file, line by line: LF or CR LF, empty lines ignored, the last one with or without an end.
///
/// Source: "Activity Stream New Tab pings of Firefox for iOS (Ping Centre)", section 7.
struct LineScan: ~Copyable {
    private var pieces: TextPieces
    private var line: LimitedBytes
    /// Where the line begins; nil before the first piece.
    private var lineStart: Int?
    private var reader: PayloadLineReader
    private let itemLimit: Int
    private var index = 0
    private var isAtEnd = false

    /// How many bytes of plain text were read.
    var offset: Int { pieces.offset }

    /// - Throws: ``PlainTextError``.
    init(_ log: RequestLog) throws(PlainTextError) {
        pieces = try TextPieces(log.source)
        itemLimit = log.itemLimit
        line = LimitedBytes(limit: log.itemLimit)
        reader = PayloadLineReader(capture: log.label, path: log.path, systems: log.systems)
    }

    /// The next line that is not empty, or what is wrong with the file; nil at the end.
    mutating func next() -> LogItem? {
        while !isAtEnd {
            if !pieces.isUsedUp {
                let (part, isEnded) = pieces.pass(upTo: UInt8(ascii: "\n"))
                let piece = pieces.piece
                line.append(piece.span.extracting(part))
                if isEnded, let item = endLine(at: pieces.place - 1) { return item }
            } else if pieces.advance() {
                lineStart = lineStart ?? pieces.place
            } else {
                isAtEnd = true
                // A fault cuts the last line short; it is part of what cannot be read.
                if let fault = pieces.fault { return LogItem(.reject("line_damaged \(fault.reason)"), lineStart, nil) }
                return endLine(at: pieces.offset)
            }
        }
        return nil
    }

    private mutating func endLine(at end: Int) -> LogItem? {
        let start = lineStart
        defer {
            line.removeAll()
            lineStart = end + 1
            index += 1
        }
        guard !line.isTooLong else {
            return LogItem(.reject("line_too_large line \(index + 1): more than \(itemLimit) bytes"), start, end)
        }
        if line.bytes.last == UInt8(ascii: "\r") { line.removeLast() }
        guard line.bytes.contains(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else { return nil }
        return LogItem(reader.read(line.bytes, index: index), start, end)
    }
}
