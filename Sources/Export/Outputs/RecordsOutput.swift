import Bytes
import CZstd
import Telemetry

/// An NDJSON output of records or their payloads, optionally compressed with zstd.
///
/// Source: "The record".
public struct RecordsOutput: ~Copyable {
    /// The content of a line.
    public enum Content: Sendable {
        /// The canonical record.
        case record
        /// Only the payload of the record.
        case payload
    }

    private let content: Content
    private let write: (Span<UInt8>) throws -> Void
    private var compressor: ZstdCompressor?
    private var buffer: [UInt8] = []

    /// The approximate size, in bytes, of the pieces that are written.
    ///
    /// If the output is compressed, each piece is a separate zstd frame.
    private static let pieceSize = 1 << 20

    /// Creates an output that passes its bytes to `write` in order.
    public init(_ content: Content, isCompressed: Bool, write: @escaping (Span<UInt8>) throws -> Void) throws {
        self.content = content
        self.write = write
        compressor = isCompressed ? try ZstdCompressor() : nil
    }

    /// Adds a record.
    ///
    /// `line` is its canonical line, including the line feed. `payload` is the part of `line` with the payload.
    public mutating func add(line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) throws {
        switch content {
        case .record: try add(line)
        case .payload:
            try add(payload)
            buffer.append(UInt8(ascii: "\n"))
        }
        if buffer.count >= Self.pieceSize { try flush() }
    }

    /// Adds text to the buffer.
    ///
    /// Large text is written directly to avoid a copy.
    private mutating func add(_ text: ArraySlice<UInt8>) throws {
        guard compressor == nil, text.count >= Self.pieceSize else { return buffer.append(copying: text.span) }
        if !buffer.isEmpty { try flush() }
        try write(text.span)
    }

    /// Writes the remaining bytes.
    public mutating func finish() throws {
        // An empty compressed output needs a frame to be a valid zstd file.
        if !buffer.isEmpty || compressor != nil { try flush() }
    }

    private mutating func flush() throws {
        if let compressed = try compressor?.compressedFrame(of: buffer) {
            try write(compressed.span)
        } else {
            try write(buffer.span)
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
