import Bundle
import Files
import Hashing
import Telemetry

/// A rejected span of a request log.
struct SpanReject {
    /// The reason for the rejection, which consists of a code, a space, and a description.
    let reason: String
    /// The offset of the first byte in the decompressed text, or `nil` for the whole text.
    let start: Int?
    let end: Int?

    fileprivate var lowerBound: Int { start ?? 0 }
    fileprivate var upperBound: Int { max(end ?? .max, lowerBound) }
}

/// A hasher for the rejected spans of a log.
///
/// Only the hashes are quarantined, because a log may contain credentials and unrelated traffic. The log is read a
/// second time for the hashes, so that it need not be kept in memory.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section G.
struct SpanHasher: ~Copyable {
    struct HashedSpan {
        let reject: Reject
        let size: Int
        let sha256: String
    }

    private let source: ByteSource
    /// The reader of the decompressed text, or `nil` before the first span.
    private var text: PlainText?
    private var piece: [UInt8] = []
    private var isAtEnd = false
    /// The number of times that reading was started, which exceeds 1 only if spans are out of order.
    private(set) var passes = 0

    init(of source: ByteSource) {
        self.source = source
    }

    /// Hashes the spans in `rejects`, and returns the hashes in the order of the spans in the text.
    ///
    /// The text is read again from the start only if a span begins before the piece of text that is in memory.
    ///
    /// - Throws: ``PlainTextError`` if the file cannot be opened again.
    mutating func hash(_ rejects: [SpanReject]) throws(PlainTextError) -> [HashedSpan] {
        let rejects = rejects.sorted { $0.lowerBound < $1.lowerBound }
        guard let first = rejects.first else { return [] }
        var text: PlainText
        if let begun = self.text.take(), first.lowerBound >= begun.offset - piece.count {
            text = begun
        } else {
            passes += 1
            piece = []
            isAtEnd = false
            text = try PlainText(source)
        }
        var hashers = rejects.map { _ in SHA256() }
        var done = 0
        while true {
            let range = text.offset - piece.count..<text.offset
            for index in done..<rejects.count {
                let span = rejects[index].lowerBound..<rejects[index].upperBound
                if span.lowerBound >= range.upperBound { break }
                hashers[index].update(piece.span.extracting(span.clamped(to: range).shifted(by: -range.lowerBound)))
                if index == done, span.upperBound <= range.upperBound { done += 1 }
            }
            if isAtEnd || done == rejects.count { break }
            // The text ends at the first damage.
            isAtEnd = (try? text.next(into: &piece)) == nil || piece.isEmpty
        }
        let end = text.offset
        self.text = consume text
        return zip(rejects, hashers).map { reject, hasher in
            let length = (reject.end ?? max(end, reject.lowerBound)) - reject.lowerBound
            return HashedSpan(
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
