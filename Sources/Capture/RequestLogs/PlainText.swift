import Bundle
import Bytes
import Files
import Hashing
import Telemetry

/// A sequential reader for the decompressed text of a request log.
///
/// The log may be uncompressed, or compressed with gzip, zlib (as by mitmproxy) or zstd.
///
/// Source: "HTTP Archive (HAR) captures as a source of telemetry", section A.
struct PlainText: ~Copyable {
    private let source: ByteSource
    private var inflater: Inflater?
    private var decoder: FrameDecoder?
    private var input: [UInt8] = []
    private var inputPosition = 0
    private var nextRead = 0
    private var isInFrame = false
    /// The number of bytes of decompressed text that were read.
    private(set) var offset = 0
    /// The size of the byte order mark in bytes.
    ///
    /// The pieces do not include the mark.
    private(set) var markLength = 0

    private static let pieceSize = 256 << 10
    /// Opens the text, and detects its compression by the first bytes.
    init(_ source: ByteSource) throws {
        self.source = source
        let start = try source.bytes(at: 0, count: 4)
        if start == FrameDecoder.magic { decoder = FrameDecoder() }
        guard Self.isInflated(start) else { return }
        guard let inflater = try? Inflater() else { throw PlainTextError("not enough memory to decompress") }
        self.inflater = consume inflater
    }

    /// Returns whether a log that begins with `start` is compressed.
    static func isCompressed(_ start: [UInt8]) -> Bool {
        isInflated(start) || start.starts(with: FrameDecoder.magic)
    }

    private static func isInflated(_ start: [UInt8]) -> Bool {
        Compression.gzip.matches(start) || start.isZlibHeader
    }

    /// Returns the size of the text in bytes, or `nil` if the file is compressed or cannot be read.
    static func count(in source: ByteSource) -> Int? {
        // The count is needed only for progress. An error is reported when the log is read.
        guard let start = try? source.bytes(at: 0, count: 4), !isInflated(start), start != FrameDecoder.magic else {
            return nil
        }
        return source.count
    }

    /// Replaces `piece` with the next piece, which is empty only at the end.
    ///
    /// If an error is thrown, `piece` contains the bytes that precede the error.
    mutating func next(into piece: inout [UInt8]) throws {
        piece.removeAll(keepingCapacity: true)
        var fault: (any Error)?
        if var inflater = inflater.take() {
            fault = inflate(with: &inflater, into: &piece)
            self.inflater = consume inflater
        } else if var decoder = decoder.take() {
            fault = decode(with: &decoder, into: &piece)
            self.decoder = consume decoder
        } else {
            try readInput(into: &piece)
        }
        if offset == 0, let message = ByteOrderMark.message(forJSON: piece) {
            piece.removeAll()
            throw PlainTextError(message)
        }
        if offset == 0, piece.starts(with: ByteOrderMark.utf8) {
            markLength = ByteOrderMark.utf8.count
            offset = markLength
            piece.removeFirst(markLength)
        }
        offset += piece.count
        if let fault { throw fault }
        if offset > InputLimits.logTextSize {
            throw PlainTextError("decompresses to more than \(InputLimits.logTextSize >> 40) TiB")
        }
    }

    private mutating func readInput(into bytes: inout [UInt8]) throws {
        bytes.removeAll(keepingCapacity: true)
        let start = nextRead
        try bytes.append(addingCapacity: Self.pieceSize) { output in try source.read(at: start, into: &output) }
        nextRead += bytes.count
    }

    private mutating func inflate(with inflater: inout Inflater, into piece: inout [UInt8]) -> (any Error)? {
        do {
            while piece.isEmpty {
                if inputPosition == input.count {
                    var bytes = input
                    try readInput(into: &bytes)
                    input = bytes
                    inputPosition = 0
                    if input.isEmpty { return inflater.isAtEnd ? nil : PlainTextError("compressed text cut short") }
                }
                if inflater.isAtEnd {
                    // As `gzip`, ignores what is no other member. Some programs append a line ending.
                    guard [0x1F, 0x78].contains(input[inputPosition]) else {
                        inputPosition = input.count
                        continue
                    }
                    inflater.restart()
                }
                var position = inputPosition
                try piece.append(addingCapacity: Self.pieceSize) { output in
                    try inflater.inflate(input.span, from: &position, into: &output)
                }
                inputPosition = position
            }
            return nil
        } catch {
            return error is InflateError ? PlainTextError("compressed text damaged") : error
        }
    }

    private mutating func decode(with decoder: inout FrameDecoder, into piece: inout [UInt8]) -> (any Error)? {
        do throws(ContainerError) {
            while piece.isEmpty {
                if !isInFrame {
                    guard nextRead < source.count else { return nil }
                    let start = try? source.bytes(at: nextRead, count: min(4, source.count - nextRead))
                    if nextRead > 0, let start, !Compression.zstd.matches(start) { return nil }
                    try decoder.start(source, at: nextRead, end: source.count, contentLimit: .max)
                    isInFrame = true
                }
                isInFrame = try decoder.advance()
                piece.append(copying: decoder.chunk)
                if !isInFrame { nextRead = decoder.position }
            }
            return nil
        } catch {
            if case .file(let error) = error.reason { return error }
            return error
        }
    }
}

/// An error that ends the decompressed text of a request log.
struct PlainTextError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension [UInt8] {
    /// Whether the bytes begin like a zlib stream (RFC 1950, section 2.2).
    fileprivate var isZlibHeader: Bool { count >= 2 && self[0] == 0x78 && [0x01, 0x5E, 0x9C, 0xDA].contains(self[1]) }
}

// MARK: - TextPieces

/// The decompressed text of a request log, one piece at a time, up to its end or the first fault.
struct TextPieces: ~Copyable {
    private var text: PlainText
    private(set) var piece: [UInt8] = []
    /// The position of the first unconsumed byte in `piece`.
    var position = 0
    private(set) var fault: (any Error)?

    init(_ source: ByteSource) throws {
        text = try PlainText(source)
    }

    /// The number of bytes of decompressed text that were read.
    var offset: Int { text.offset }
    /// The offset of the first unconsumed byte in the text.
    var currentOffset: Int { text.offset - piece.count + position }
    /// The size of the byte order mark at the start of the text, in bytes.
    var markLength: Int { text.markLength }
    var isConsumed: Bool { position == piece.count }

    /// Reads the next piece, and returns whether there is one.
    mutating func advance() -> Bool {
        piece.removeAll(keepingCapacity: true)
        position = 0
        guard fault == nil else { return false }
        do {
            try text.next(into: &piece)
        } catch {
            // The bytes before the fault are valid.
            fault = error
        }
        return !piece.isEmpty
    }

    /// Advances past the next `byte`, or to the end of the piece.
    ///
    /// Returns the range of the bytes before `byte`, and whether `byte` was found.
    mutating func advance(past byte: UInt8) -> (Range<Int>, found: Bool) {
        let start = position
        let end = piece.span.firstIndex(of: byte, from: start)
        position = end.map { $0 + 1 } ?? piece.count
        return (start..<(end ?? piece.count), end != nil)
    }
}

// MARK: - Hashes of spans

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
    /// - Throws: `FileError` if the file cannot be opened again.
    mutating func hash(_ rejects: [SpanReject]) throws -> [HashedSpan] {
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
