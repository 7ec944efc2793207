import JSONText
import Telemetry

/// Goes through an HTTP archive, entry by entry, with one entry in memory at a time.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section A.
struct HTTPArchiveScan: ~Copyable {
    private var pieces: TextPieces
    private var skimmer: JSONSkimmer
    private let itemLimit: Int
    private var reader: HTTPArchiveReader
    private var index = 0
    private var isAtEnd = false

    /// How many bytes of plain text were read.
    var offset: Int { pieces.offset }

    /// - Throws: ``PlainTextError``.
    init(_ log: RequestLog) throws(PlainTextError) {
        pieces = try TextPieces(log.source)
        itemLimit = log.itemLimit
        skimmer = JSONSkimmer(
            path: HTTPArchiveReader.path, neighbors: [HTTPArchiveReader.version], outline: HTTPArchiveReader.outline,
            limit: log.itemLimit)
        reader = HTTPArchiveReader(capture: log.label, path: log.path, systems: log.systems) {
            Inflater.inflate(body: $0, limit: $1)
        }
    }

    /// The next entry, or what is wrong with the archive; nil at the end.
    mutating func next() -> LogItem? {
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
            let start = skimmer.isInElement ? skimmer.range.lowerBound : error.offset
            return stop("har_invalid \(error.code.text)", at: start + pieces.markLength)
        }
    }

    private mutating func advanceInPiece() throws(JSONError) -> JSONSkimmer.Finding? {
        let piece = pieces.piece
        return try skimmer.next(in: piece.span, from: &pieces.position)
    }

    private mutating func item(for finding: JSONSkimmer.Finding) -> LogItem? {
        switch finding {
        case .neighbor:
            guard !HTTPArchiveReader.isKnown(version: skimmer.text) else { return nil }
            return stop("unsupported_version only HAR 1.x can be read", at: nil)
        case .element:
            let start = skimmer.range.lowerBound + pieces.markLength
            let end = skimmer.range.upperBound + pieces.markLength
            defer { index += 1 }
            guard !skimmer.isTooLong else {
                return LogItem(
                    .reject("entry_too_large entry \(index): request of more than \(itemLimit) bytes"), start, end)
            }
            var finding = reader.read(skimmer.text, index: index)
            if case .reject(let reason) = finding { finding = .reject("\(reason) (entry \(index))") }
            return LogItem(finding, start, end)
        }
    }

    private mutating func end() -> LogItem? {
        let start = skimmer.isInElement ? skimmer.range.lowerBound + pieces.markLength : pieces.offset
        if let fault = pieces.fault { return stop("har_damaged \(fault.reason)", at: start) }
        if !skimmer.isComplete { return stop("har_cut the archive ends too early", at: start) }
        if !skimmer.foundArray { return stop("har_invalid no log with entries", at: nil) }
        isAtEnd = true
        return nil
    }

    private mutating func stop(_ reason: String, at offset: Int?) -> LogItem {
        isAtEnd = true
        return LogItem(.reject(reason), offset, nil)
    }
}
