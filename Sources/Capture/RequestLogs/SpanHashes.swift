import Bundle
import Files
import Hashing
import Telemetry

/// A span of a log that could not be understood.
struct SpanReject {
    /// A code, a space, and words.
    let reason: String
    /// The first byte in the plain text; nil for all of it.
    let start: Int?
    /// The end; nil for that of the text.
    let end: Int?

    fileprivate var from: Int { start ?? 0 }
    /// The end of the span, as far as it is known without reading to the end of the text.
    fileprivate var to: Int { max(end ?? .max, from) }
}

/// Hashes spans of a log, which go to quarantine by their hash alone: a log carries credentials and traffic of others.
///
/// It follows the reading of the log with a second one, from one group of spans to the next, so that neither the spans
/// nor the text have to be kept. Source: "HTTP Archive (HAR) captures as a source of telemetry", section G.
struct SpanHashes: ~Copyable {
    /// A span with what is told of it.
    struct Span {
        let reject: Reject
        let size: Int
        let sha256: String
    }

    private let source: ByteSource
    /// The text as far as it was read; nil before the first span.
    private var text: PlainText?
    /// The last bytes of it.
    private var piece: [UInt8] = []
    private var isAtEnd = false
    /// How often the text was begun: more than once only for a span that lies before another one.
    private(set) var passes = 0

    init(of source: ByteSource) {
        self.source = source
    }

    /// Hashes some spans. What lies behind all that were hashed before is found without reading anything again.
    /// - Throws: ``PlainTextError`` if the file cannot be opened again.
    mutating func hash(_ rejects: [SpanReject]) throws(PlainTextError) -> [Span] {
        let rejects = rejects.sorted { $0.from < $1.from }
        guard let first = rejects.first else { return [] }
        var text: PlainText
        if let begun = self.text.take(), first.from >= begun.offset - piece.count {
            text = begun
        } else {
            text = try begin()
        }
        var hashers = rejects.map { _ in SHA256() }
        var done = 0
        while true {
            let range = text.offset - piece.count..<text.offset
            for index in done..<rejects.count {
                let span = rejects[index].from..<rejects[index].to
                if span.lowerBound >= range.upperBound { break }
                hashers[index].update(piece.span.extracting(span.clamped(to: range).shifted(by: -range.lowerBound)))
                if index == done, span.upperBound <= range.upperBound { done += 1 }
            }
            if isAtEnd || done == rejects.count { break }
            // Where the text is damaged, it ends.
            isAtEnd = (try? text.next(into: &piece)) == nil || piece.isEmpty
        }
        let end = text.offset
        self.text = consume text
        return zip(rejects, hashers).map { reject, hasher in
            let length = (reject.end ?? max(end, reject.from)) - reject.from
            return Span(
                reject: Reject(reject.reason, offset: reject.start, length: reject.start.map { _ in length }),
                size: length, sha256: hasher.finalize().hex)
        }
    }

    private mutating func begin() throws(PlainTextError) -> PlainText {
        passes += 1
        piece = []
        isAtEnd = false
        return try PlainText(source)
    }
}

extension Range<Int> {
    fileprivate func shifted(by distance: Int) -> Range<Int> {
        lowerBound + distance..<upperBound + distance
    }
}
