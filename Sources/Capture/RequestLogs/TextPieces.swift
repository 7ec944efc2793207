import Files

/// The plain text of a request log as a scan goes through it: a piece at a time, up to the end or to what cannot be read.
struct TextPieces: ~Copyable {
    private var text: PlainText
    private(set) var piece: [UInt8] = []
    /// The first byte in the piece that was not looked at.
    var position = 0
    /// Why the text cannot be read on, if it cannot.
    private(set) var fault: PlainTextError?

    init(_ source: ByteSource) throws(PlainTextError) {
        text = try PlainText(source)
    }

    /// How many bytes of plain text were read.
    var offset: Int { text.offset }
    /// The offset in the text of the first byte that was not looked at.
    var place: Int { text.offset - piece.count + position }
    /// The length of the byte order mark at the start of the text.
    var markLength: Int { text.markLength }
    /// Whether all of the piece was looked at.
    var isUsedUp: Bool { position == piece.count }

    /// Reads the next piece. Returns whether there is one.
    mutating func advance() -> Bool {
        piece.removeAll(keepingCapacity: true)
        position = 0
        guard fault == nil else { return false }
        do throws(PlainTextError) {
            try text.next(into: &piece)
        } catch {
            // What came before the fault is good.
            fault = error
        }
        return !piece.isEmpty
    }

    /// Advances behind the next `byte`, or to the end of the piece. Returns the range in front of it, and whether it was found.
    mutating func pass(upTo byte: UInt8) -> (Range<Int>, found: Bool) {
        let start = position
        let end = piece[start...].firstIndex(of: byte)
        position = end.map { $0 + 1 } ?? piece.count
        return (start..<(end ?? piece.count), end != nil)
    }
}
