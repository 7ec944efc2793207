import Bundle
import Files

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
    /// The maximum size of the decompressed text in bytes.
    ///
    /// Longer text indicates a decompression bomb.
    private static let limit = 1 << 40

    /// Opens the text, and detects its compression by the first bytes.
    init(_ source: ByteSource) throws(PlainTextError) {
        self.source = source
        let start: [UInt8]
        do throws(FileError) {
            start = try source.bytes(at: 0, count: 4)
        } catch {
            throw .file(error)
        }
        do {
            if Self.isInflated(start) { inflater = try Inflater() }
            if Self.isZstd(start) { decoder = try FrameDecoder() }
        } catch {
            throw .damaged("not enough memory to decompress")
        }
    }

    private static func isInflated(_ start: [UInt8]) -> Bool { start.starts(with: [0x1F, 0x8B]) || start.isZlibHeader }

    private static func isZstd(_ start: [UInt8]) -> Bool { start == [0x28, 0xB5, 0x2F, 0xFD] }

    /// Returns the size of the text in bytes, or `nil` if the file is compressed or cannot be read.
    static func count(in source: ByteSource) -> Int? {
        // The count is needed only for progress. An error is reported when the log is read.
        guard let start = try? source.bytes(at: 0, count: 4), !isInflated(start), !isZstd(start) else { return nil }
        return source.count
    }

    /// Replaces `piece` with the next piece, which is empty only at the end.
    ///
    /// If an error is thrown, `piece` contains the bytes that precede the error.
    mutating func next(into piece: inout [UInt8]) throws(PlainTextError) {
        piece.removeAll(keepingCapacity: true)
        var fault: PlainTextError?
        if var inflater = inflater.take() {
            fault = inflate(with: &inflater, into: &piece)
            self.inflater = consume inflater
        } else if var decoder = decoder.take() {
            fault = decode(with: &decoder, into: &piece)
            self.decoder = consume decoder
        } else {
            try readInput(into: &piece)
        }
        if offset == 0, piece.starts(with: [0xEF, 0xBB, 0xBF]) {
            markLength = 3
            offset = markLength
            piece.removeFirst(markLength)
        }
        offset += piece.count
        if let fault { throw fault }
        if offset > Self.limit { throw .damaged("decompresses to more than \(Self.limit >> 40) TiB") }
    }

    private mutating func readInput(into bytes: inout [UInt8]) throws(PlainTextError) {
        bytes.removeAll(keepingCapacity: true)
        let start = nextRead
        do throws(FileError) {
            try bytes.append(addingCapacity: Self.pieceSize) { output throws(FileError) in
                try source.read(at: start, into: &output)
            }
        } catch {
            throw .file(error)
        }
        nextRead += bytes.count
    }

    private mutating func inflate(with inflater: inout Inflater, into piece: inout [UInt8]) -> PlainTextError? {
        do {
            while piece.isEmpty {
                if inputPosition == input.count {
                    var bytes = input
                    try readInput(into: &bytes)
                    input = bytes
                    inputPosition = 0
                    guard !input.isEmpty else {
                        return inflater.isAtEnd ? nil : .damaged("compressed text cut short")
                    }
                }
                if inflater.isAtEnd { inflater.restart() }
                var position = inputPosition
                try piece.append(addingCapacity: Self.pieceSize) { output in
                    try inflater.inflate(input.span, from: &position, into: &output)
                }
                inputPosition = position
            }
            return nil
        } catch let fault as PlainTextError {
            return fault
        } catch {
            return .damaged("compressed text damaged")
        }
    }

    private mutating func decode(with decoder: inout FrameDecoder, into piece: inout [UInt8]) -> PlainTextError? {
        do throws(ContainerError) {
            while piece.isEmpty {
                if !isInFrame {
                    guard nextRead < source.count else { return nil }
                    try decoder.start(source, at: nextRead, end: source.count, contentLimit: .max)
                    isInFrame = true
                }
                isInFrame = try decoder.advance()
                piece.append(copying: decoder.chunk)
                if !isInFrame { nextRead = decoder.position }
            }
            return nil
        } catch {
            if case .file(let error) = error.reason { return .file(error) }
            return .damaged("\(error)")
        }
    }
}

/// An error that ends the decompressed text of a request log.
enum PlainTextError: Error {
    case file(FileError)
    case damaged(String)

    var reason: String {
        switch self {
        case .file(let error): error.description
        case .damaged(let reason): reason
        }
    }
}

extension [UInt8] {
    /// Whether the bytes begin like a zlib stream (RFC 1950, section 2.2).
    fileprivate var isZlibHeader: Bool { count >= 2 && self[0] == 0x78 && [0x01, 0x5E, 0x9C, 0xDA].contains(self[1]) }
}
