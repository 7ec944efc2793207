import Files

/// The plain text of a request log, one piece at a time, up to its end or the first fault.
struct TextPieces: ~Copyable {
    private var text: PlainText
    private(set) var piece: [UInt8] = []
    /// The position of the first byte in the piece that was not consumed.
    var position = 0
    /// The fault that ended the text, or `nil` if there is none.
    private(set) var fault: PlainTextError?

    init(_ source: ByteSource) throws(PlainTextError) {
        text = try PlainText(source)
    }

    /// The number of bytes of plain text that were read.
    var offset: Int { text.offset }
    /// The offset in the text of the first byte that was not consumed.
    var currentOffset: Int { text.offset - piece.count + position }
    /// The size of the byte order mark at the start of the text.
    var markLength: Int { text.markLength }
    /// Whether all of the piece was consumed.
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
    /// - Returns: The range before the byte, and whether it was found.
    mutating func advance(past byte: UInt8) -> (Range<Int>, found: Bool) {
        let start = position
        let end = piece[start...].firstIndex(of: byte)
        position = end.map { $0 + 1 } ?? piece.count
        return (start..<(end ?? piece.count), end != nil)
    }
}
