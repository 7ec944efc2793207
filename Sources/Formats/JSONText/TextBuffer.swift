import Bytes

/// A buffer of bytes whose memory is reused.
///
/// The memory extends beyond the bytes, so that writers can store whole words.
public struct TextBuffer: Sendable {
    var memory: [UInt8] = []
    /// The number of bytes in the buffer.
    public var count: Int { used }
    var used = 0
    /// The number of bytes for which memory is allocated.
    public var capacity: Int { memory.count }

    /// Creates an empty buffer.
    public init() {}

    /// Creates a buffer that contains `bytes`, without copying them.
    public init(_ bytes: [UInt8]) {
        memory = bytes
        used = bytes.count
    }

    /// The bytes in the buffer.
    public var span: Span<UInt8> { memory.span.extracting(..<used) }

    /// The bytes in `range`, which must not end after ``count``.
    public subscript(range: Range<Int>) -> ArraySlice<UInt8> { memory[range] }

    /// A copy of all bytes.
    public var bytes: [UInt8] { Array(memory[..<count]) }

    /// Removes and returns all bytes without copying them.
    mutating func takeBytes() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &memory)
        bytes.removeLast(bytes.count - count)
        used = 0
        return bytes
    }

    /// Removes all bytes, but keeps the memory for reuse.
    public mutating func removeAll() { used = 0 }

    /// Removes all bytes from `index` to the end, but keeps the memory for reuse.
    public mutating func removeAll(from index: Int) {
        precondition(index >= 0 && index <= count, "an index beyond the end")
        used = index
    }

    /// Appends the bytes that `body` writes.
    ///
    /// `body` must not write more than `limit` bytes.
    public mutating func append(atMost limit: Int, _ body: (inout TextWriter) -> Void) {
        if memory.count < count + limit + TextWriter.slack { grow(toAppend: limit) }
        let start = count
        var writer = TextWriter(memory.mutableSpan, count: start)
        body(&writer)
        used = writer.count
    }

    mutating func grow(toAppend limit: Int) {
        let needed = count + limit + TextWriter.slack
        let more = max(needed, 2 * memory.count) - memory.count
        memory.append(addingCapacity: more) { $0.append(repeating: 0, count: more) }
    }

    /// Appends a copy of the bytes in `range`, which are already in the buffer.
    public mutating func append(copyOf range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "a range beyond the end")
        append(atMost: range.count) { $0.append(copyOf: range) }
    }

    /// Appends a byte.
    public mutating func append(_ byte: UInt8) {
        append(atMost: 1) { $0.append(byte) }
    }

    /// Appends bytes.
    public mutating func append(copying bytes: Span<UInt8>) {
        append(atMost: bytes.count) { $0.append(copying: bytes) }
    }

    /// Appends a constant string.
    public mutating func append(_ piece: ConstantText) {
        append(atMost: 0) { $0.append(piece) }
    }

    /// Appends a number in decimal.
    public mutating func append(decimal number: UInt64) {
        append(atMost: 20) { $0.append(decimal: number) }
    }

    /// Appends a number in decimal, with a minus sign if it is negative.
    public mutating func append(signedDecimal number: Int64) {
        append(atMost: 21) { writer in
            if number < 0 { writer.append(UInt8(ascii: "-")) }
            writer.append(decimal: number.magnitude)
        }
    }

    /// Appends UTF-8 as a JSON string with the shortest escapes.
    public mutating func append(jsonString text: Span<UInt8>) {
        append(atMost: text.canonicalLengthLimit) { $0.append(jsonString: text) }
    }
}

/// A writer of bytes into memory of sufficient size, up to sixteen bytes at a time.
///
/// The writer may store more bytes than it appends. The next store overwrites the excess bytes, or they remain after
/// ``count``.
public struct TextWriter: ~Copyable, ~Escapable {
    /// The minimum number of bytes of memory after the appended bytes.
    static var slack: Int { 48 }

    var memory: MutableSpan<UInt8>
    /// The number of bytes in use, which is also the index at which the next byte is stored.
    public var count: Int { used }
    var used: Int

    @_lifetime(copy memory)
    init(_ memory: consuming MutableSpan<UInt8>, count: Int) {
        self.memory = memory
        used = count
    }

    /// Appends a byte.
    public mutating func append(_ byte: UInt8) {
        memory[count] = byte
        used += 1
    }

    /// Appends bytes.
    public mutating func append(copying bytes: Span<UInt8>) {
        append(copying: bytes, from: 0, to: UInt32(truncatingIfNeeded: bytes.count))
    }

    /// Appends the UTF-8 of a string without quotation marks or escapes.
    public mutating func append(_ text: String) {
        append(copying: text.utf8.span)
    }

    /// Appends a constant string.
    public mutating func append(_ piece: ConstantText) {
        store(piece.start, at: count)
        store(piece.end, at: count &+ 16)
        used &+= piece.count
    }

    /// Appends the bytes of `bytes` from `start` up to, but not including, `end`.
    ///
    /// Bytes after the range may be read and stored, but are not appended.
    public mutating func append(copying bytes: Span<UInt8>, from start: UInt32, to end: UInt32) {
        let offset = count &- Int(start)
        used = offset &+ Int(end)
        var index = start
        while index < end, Int(index) <= bytes.count - 16 {
            store(bytes.vector(at: Int(index)), at: offset &+ Int(index))
            index &+= 16
        }
        guard index < end else { return }
        let last = end &- 16
        if end >= 16, last >= start, Int(last) <= bytes.count - 16 {
            return store(bytes.vector(at: Int(last)), at: offset &+ Int(last))
        }
        while index < end {
            memory[offset &+ Int(index)] = bytes[Int(index)]
            index &+= 1
        }
    }

    /// Appends the bytes of `bytes` from `start` up to `end`, optimized for at most 16 bytes.
    ///
    /// A range of at most 16 bytes is copied with a single store if `bytes` has at least 16 bytes from `start` on.
    mutating func append(copyingShort bytes: Span<UInt8>, from start: UInt32, to end: UInt32) {
        guard end &- start <= 16, Int(start) <= bytes.count &- 16 else {
            return append(copying: bytes, from: start, to: end)
        }
        store(bytes.vector(at: Int(start)), at: used)
        used &+= Int(end &- start)
    }

    /// Appends `bytes` with each occurrence of `mark` doubled.
    ///
    /// There must be capacity for twice the number of bytes.
    public mutating func append(copying bytes: Span<UInt8>, doubling mark: UInt8) {
        let low: UInt64 = 0x0101_0101_0101_0101
        let marks = low &* UInt64(mark)
        var index = 0
        while bytes.count &- index >= 8 {
            let word = bytes.word(at: index)
            store(word, at: used)
            let others = word ^ marks
            // The lowest set bit belongs to the first mark.
            let found = (others &- low) & ~others & (low &<< 7)
            let count = found == 0 ? 8 : found.trailingZeroBitCount &>> 3 &+ 1
            used &+= count
            index &+= count
            if found != 0 { append(mark) }
        }
        while index < bytes.count {
            append(bytes[index])
            if bytes[index] == mark { append(mark) }
            index &+= 1
        }
    }

    /// Appends a copy of the bytes in `range`, which are already in the memory.
    mutating func append(copyOf range: Range<Int>) {
        var index = range.lowerBound
        while range.upperBound &- index >= 8 {
            store(memory.span.word(at: index), at: count)
            used &+= 8
            index &+= 8
        }
        while index < range.upperBound {
            append(memory[index])
            index &+= 1
        }
    }

    /// Stores the eight bytes of a word at `index`, with the lowest byte first.
    mutating func store(_ word: UInt64, at index: Int) { memory.store(word, at: index) }

    private mutating func store(_ piece: SIMD16<UInt8>, at index: Int) { memory.store(piece, at: index) }

    /// Appends UTF-8 as a JSON string with the shortest escapes.
    ///
    /// There must be capacity for the escaped string, which has at most six times the number of bytes plus two.
    public mutating func append(jsonString text: Span<UInt8>) {
        append(UInt8(ascii: "\""))
        if text.needsNoEscape {
            append(copying: text)
        } else {
            var index = 0
            while index < text.count { index = append(scalarAt: index, of: text) }
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends the byte or the lone surrogate at `index`, escaped if necessary, and returns the next index.
    private mutating func append(scalarAt index: Int, of text: Span<UInt8>) -> Int {
        let byte = text[index]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case ..<0x20:
            append(controlEscape: byte)
        case 0xED where index + 2 < text.count && text[index + 1] >= 0xA0:
            append(unitEscape: 0xD000 | UInt16(text[index + 1] & 0x3F) << 6 | UInt16(text[index + 2] & 0x3F))
            return index + 3
        default:
            append(byte)
        }
        return index + 1
    }

    private mutating func append(controlEscape byte: UInt8) {
        guard let short = byte.shortJSONEscape else { return append(unitEscape: UInt16(byte)) }
        append(UInt8(ascii: "\\"))
        append(short)
    }

    private mutating func append(unitEscape unit: UInt16) {
        append(UInt8(ascii: "\\"))
        append(UInt8(ascii: "u"))
        let (high, low) = (UInt8(truncatingIfNeeded: unit >> 8), UInt8(truncatingIfNeeded: unit))
        append((high >> 4).lowerHexadecimalDigit)
        append((high & 0xF).lowerHexadecimalDigit)
        append((low >> 4).lowerHexadecimalDigit)
        append((low & 0xF).lowerHexadecimalDigit)
    }
}

extension UInt8 {
    /// The letter after the backslash in the short JSON escape of a control character, or `nil` if it has none.
    var shortJSONEscape: UInt8? {
        switch self {
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0C: UInt8(ascii: "f")
        case 0x0D: UInt8(ascii: "r")
        default: nil
        }
    }
}

/// A constant string of at most 32 bytes, stored in vectors that can be appended quickly.
public struct ConstantText: Sendable, ExpressibleByStringLiteral {
    fileprivate let start: SIMD16<UInt8>
    fileprivate let end: SIMD16<UInt8>
    fileprivate let count: Int

    /// Creates a constant string from a literal.
    public init(stringLiteral text: String) {
        let bytes = Array(text.utf8)
        precondition(bytes.count <= 32, "a string of more than 32 bytes")
        let padded = bytes + [UInt8](repeating: 0, count: 32 - bytes.count)
        start = padded.span.vector(at: 0)
        end = padded.span.vector(at: 16)
        count = bytes.count
    }
}
