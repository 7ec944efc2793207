import JSONText

/// A splitter that divides an HTTP archive into its entries, and keeps only one entry in memory.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section A.
struct HTTPArchiveSplitter: ~Copyable {
    private var pieces: TextPieces
    private var arrayReader: JSONArrayStreamReader
    private let itemLimit: Int
    private var index = 0
    private var isAtEnd = false

    var offset: Int { pieces.offset }

    init(_ log: RequestLog) throws(PlainTextError) {
        pieces = try TextPieces(log.source)
        itemLimit = log.itemLimit
        arrayReader = JSONArrayStreamReader(
            path: HTTPArchiveReader.path, neighbors: [HTTPArchiveReader.version], outline: HTTPArchiveEntry.outline,
            limit: log.itemLimit)
    }

    /// Returns the next entry or fault, or `nil` at the end.
    mutating func next() -> RawLogItem? {
        guard !isAtEnd else { return nil }
        do throws(JSONError) {
            while true {
                if let finding = try advanceInPiece() {
                    if let item = item(for: finding) { return item }
                } else if !pieces.advance() {
                    return end()
                }
            }
        } catch {
            let start = arrayReader.isInElement ? arrayReader.range.lowerBound : error.offset
            return stop("har_invalid \(error.code.text)", at: start + pieces.markLength)
        }
    }

    private mutating func advanceInPiece() throws(JSONError) -> JSONArrayStreamReader.Finding? {
        let piece = pieces.piece
        return try arrayReader.next(in: piece.span, from: &pieces.position)
    }

    private mutating func item(for finding: JSONArrayStreamReader.Finding) -> RawLogItem? {
        switch finding {
        case .neighbor:
            guard !HTTPArchiveReader.isKnown(version: arrayReader.text) else { return nil }
            return stop("unsupported_version only HAR 1.x can be read", at: nil)
        case .element:
            let start = arrayReader.range.lowerBound + pieces.markLength
            let end = arrayReader.range.upperBound + pieces.markLength
            defer { index += 1 }
            guard !arrayReader.isTooLong else {
                let fault = "entry_too_large entry \(index): request of more than \(itemLimit) bytes"
                return RawLogItem(contents: .fault(fault), start: start, end: end)
            }
            // A copy has no excess capacity, unlike the buffer of `arrayReader`.
            return RawLogItem(contents: .text(arrayReader.text.span.copied(), index: index), start: start, end: end)
        }
    }

    private mutating func end() -> RawLogItem? {
        let start = arrayReader.isInElement ? arrayReader.range.lowerBound + pieces.markLength : pieces.offset
        if let fault = pieces.fault { return stop("har_damaged \(fault.reason)", at: start) }
        if !arrayReader.isComplete { return stop("har_cut the archive ends too early", at: start) }
        if !arrayReader.hasFoundArray { return stop("har_invalid no log with entries", at: nil) }
        isAtEnd = true
        return nil
    }

    private mutating func stop(_ reason: String, at offset: Int?) -> RawLogItem {
        isAtEnd = true
        return RawLogItem(contents: .fault(reason), start: offset, end: nil)
    }
}
