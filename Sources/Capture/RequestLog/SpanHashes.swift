import Bundle
import Crypto
import Telemetry

/// A span of a log that could not be understood.
struct SpanReject {
    /// A code, a space, and words.
    let reason: String
    /// The first byte in the plain text; nil for all of it.
    let start: Int?
    /// The end; nil for that of the text.
    let end: Int?
}

/// Hashes spans of a log, which go to quarantine by their hash alone: a log carries credentials and traffic of others.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section G.
enum SpanHashes {
    /// A span with what is told of it.
    struct Span {
        let reject: Reject
        let size: Int
        let sha256: String
    }

    /// Hashes all spans while going through the text once.
    /// - Throws: ``PlainTextFault`` if the file cannot be opened again.
    static func hash(_ rejects: [SpanReject], of source: ByteSource) throws(PlainTextFault) -> [Span] {
        guard !rejects.isEmpty else { return [] }
        let rejects = rejects.sorted { $0.start ?? 0 < $1.start ?? 0 }
        var hashers = rejects.map { _ in SHA256() }
        var text = try PlainText(source)
        var piece: [UInt8] = []
        var first = 0
        var isAtEnd = false
        while !isAtEnd {
            // Where the text is damaged, it ends.
            isAtEnd = (try? text.next(into: &piece)) == nil || piece.isEmpty
            let range = text.offset - piece.count..<text.offset
            for index in first..<rejects.count {
                let span = (rejects[index].start ?? 0)..<max(rejects[index].end ?? Int.max, rejects[index].start ?? 0)
                if span.lowerBound >= range.upperBound { break }
                hashers[index].update(data: piece[(span.clamped(to: range)).shifted(by: -range.lowerBound)])
                if index == first, span.upperBound <= range.upperBound { first += 1 }
            }
        }
        return zip(rejects, hashers).map { reject, hasher in
            let length = (reject.end ?? max(text.offset, reject.start ?? 0)) - (reject.start ?? 0)
            return Span(
                reject: Reject(reject.reason, offset: reject.start, length: reject.start.map { _ in length }),
                size: length, sha256: hasher.finalize().hex)
        }
    }
}

extension Range<Int> {
    fileprivate func shifted(by distance: Int) -> Range<Int> {
        lowerBound + distance..<upperBound + distance
    }
}
