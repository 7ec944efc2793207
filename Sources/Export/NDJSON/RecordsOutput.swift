import CZstd
import Telemetry

/// Records as NDJSON: one canonical JSON object a line, or the payloads alone; compressed where asked.
///
/// Source: "The record".
public struct RecordsOutput: ~Copyable {
    /// What is written on each line.
    public enum Content: Sendable {
        /// The record.
        case record
        /// Just the documented format.
        case payload
    }

    private let content: Content
    private let write: (Span<UInt8>) throws -> Void
    private var compressor: ZstdCompressor?
    private var buffer: [UInt8] = []

    /// Lines are handed on in pieces of about this many bytes; compressed, each is a frame of its own.
    private static let pieceSize = 1 << 20

    /// Begins an output, as zstd frames if asked, whose bytes are passed to `write` in order.
    /// - Throws: ``ZstdError`` when there is no memory.
    public init(_ content: Content, isCompressed: Bool, write: @escaping (Span<UInt8>) throws -> Void) throws {
        self.content = content
        self.write = write
        compressor = isCompressed ? try ZstdCompressor() : nil
    }

    /// Adds a record: its canonical line with the line feed, and the part of the line that is its payload.
    public mutating func add(line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) throws {
        switch content {
        case .record: try add(line)
        case .payload:
            try add(payload)
            buffer.append(UInt8(ascii: "\n"))
        }
        if buffer.count >= Self.pieceSize { try flush() }
    }

    /// Adds a text; a large one is handed on as it is, not copied.
    private mutating func add(_ text: ArraySlice<UInt8>) throws {
        guard compressor == nil, text.count >= Self.pieceSize else { return buffer += text }
        if !buffer.isEmpty { try flush() }
        try write(text.span)
    }

    /// Writes what is left.
    public mutating func finish() throws {
        // An empty compressed output still is a frame, or it would be no zstd file.
        if !buffer.isEmpty || compressor != nil { try flush() }
    }

    private mutating func flush() throws {
        if let compressed = try compressor?.frame(of: buffer) {
            try write(compressed.span)
        } else {
            try write(buffer.span)
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
