import Bytes

/// The distinct values of a column in a row group, in the order of their first occurrences.
struct ValueDictionary {
    /// The maximum size of the values in plain encoding, in bytes.
    static let sizeLimit = 1 << 20

    /// The values in plain encoding.
    private(set) var bytes: [UInt8] = []
    /// The index of the end of each string in ``bytes``.
    ///
    /// The array is not used for numbers.
    private var ends: [UInt32] = []
    private var index = DictionaryIndex()
    private let hash = DictionaryHash()

    /// The number of values.
    var count: Int { index.count }

    /// Returns the index of `number`, after adding the number if it is new.
    ///
    /// Returns `nil` if the number is new and the dictionary is full.
    @inline(__always)
    mutating func index(of number: Int64) -> UInt32? {
        var search = index.search(for: hash(number))
        while let found = index.next(&search) {
            if self.number(at: found) == number { return UInt32(truncatingIfNeeded: found) }
        }
        guard bytes.count + 8 <= Self.sizeLimit else { return nil }
        bytes.append(littleEndian: number)
        return UInt32(truncatingIfNeeded: index.add(after: search))
    }

    /// Returns the index of `string`, after adding the string if it is new.
    ///
    /// Returns `nil` if the string is new and the dictionary is full.
    @inline(__always)
    mutating func index(of string: Span<UInt8>) -> UInt32? {
        var search = index.search(for: hash(string))
        while let found = index.next(&search) {
            if self.string(at: found).equals(string) { return UInt32(truncatingIfNeeded: found) }
        }
        guard bytes.count + 4 + string.count <= Self.sizeLimit else { return nil }
        bytes.append(plain: string)
        ends.append(UInt32(truncatingIfNeeded: bytes.count))
        return UInt32(truncatingIfNeeded: index.add(after: search))
    }

    @inline(__always)
    func number(at index: Int) -> Int64 { Int64(bitPattern: bytes.span.word(at: 8 &* index)) }

    @inline(__always)
    @_lifetime(borrow self)
    func string(at index: Int) -> Span<UInt8> {
        let start = index == 0 ? 0 : Int(ends[index &- 1])
        return bytes.span.extracting(start &+ 4..<Int(ends[index]))
    }
}

extension [UInt8] {
    /// Appends a string in plain encoding: the length in four bytes, and the bytes.
    mutating func append(plain string: Span<UInt8>) {
        append(littleEndian: UInt32(string.count))
        string.withUnsafeBytes { self += $0 }
    }
}
