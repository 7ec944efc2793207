import Files

/// The decompressed text of a request log, one piece at a time, up to its end or the first fault.
struct TextPieces: ~Copyable {
    private var text: PlainText
    private(set) var piece: [UInt8] = []
    /// The position of the first unconsumed byte in `piece`.
    var position = 0
    private(set) var fault: PlainTextError?

    init(_ source: ByteSource) throws(PlainTextError) {
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
        do throws(PlainTextError) {
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
        let end = piece[start...].firstIndex(of: byte)
        position = end.map { $0 + 1 } ?? piece.count
        return (start..<(end ?? piece.count), end != nil)
    }
}
