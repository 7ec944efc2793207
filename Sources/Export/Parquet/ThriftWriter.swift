/// A writer of structures in the compact protocol of Thrift.
///
/// Fields must be written in ascending order of their numbers.
///
/// Source: Apache Thrift, "Thrift compact protocol encoding".
struct ThriftWriter {
    /// The type of a value, as encoded in the headers of fields and lists.
    enum ValueType: UInt8 {
        case `true` = 1
        case `false` = 2
        case int32 = 5
        case int64 = 6
        case binary = 8
        case list = 9
        case structure = 12
    }

    private(set) var bytes: [UInt8] = []
    /// The number of the previous field of the current structure.
    private var previousField = 0

    /// Writes the header of a field.
    private mutating func begin(_ field: Int, _ type: ValueType) {
        let delta = field - previousField
        previousField = field
        if (1...15).contains(delta) {
            bytes.append(UInt8(delta) << 4 | type.rawValue)
        } else {
            bytes.append(type.rawValue)
            bytes.append(variableLength: Self.zigzag(Int64(field)))
        }
    }

    mutating func add(_ field: Int, _ value: Bool) { begin(field, value ? .true : .false) }

    mutating func add(_ field: Int, int32 value: Int) {
        begin(field, .int32)
        bytes.append(variableLength: Self.zigzag(Int64(value)))
    }

    mutating func add(_ field: Int, int64 value: Int) {
        begin(field, .int64)
        bytes.append(variableLength: Self.zigzag(Int64(value)))
    }

    mutating func add(_ field: Int, binary value: [UInt8]) {
        begin(field, .binary)
        addElement(binary: value)
    }

    mutating func add(_ field: Int, string value: String) { add(field, binary: Array(value.utf8)) }

    /// Writes a field that contains a structure.
    ///
    /// `body` writes the fields of the structure.
    mutating func add(_ field: Int, structure body: (inout ThriftWriter) -> Void) {
        begin(field, .structure)
        addElement(structure: body)
    }

    /// Writes a field that contains a list.
    ///
    /// `body` writes the `count` elements of the list.
    mutating func add(_ field: Int, listOf type: ValueType, count: Int, _ body: (inout ThriftWriter) -> Void) {
        begin(field, .list)
        if count < 15 {
            bytes.append(UInt8(count) << 4 | type.rawValue)
        } else {
            bytes.append(0xF0 | type.rawValue)
            bytes.append(variableLength: UInt64(count))
        }
        body(&self)
    }

    // MARK: Elements of lists

    mutating func addElement(int32 value: Int) { bytes.append(variableLength: Self.zigzag(Int64(value))) }

    mutating func addElement(binary value: [UInt8]) {
        bytes.append(variableLength: UInt64(value.count))
        bytes += value
    }

    mutating func addElement(structure body: (inout ThriftWriter) -> Void) {
        let outerField = previousField
        previousField = 0
        body(&self)
        bytes.append(0)
        previousField = outerField
    }

    /// Adds elements that another writer has encoded.
    mutating func addElements(encoded: [UInt8]) { bytes += encoded }

    /// Returns the zigzag encoding of a number, which is small if the absolute value of the number is small.
    private static func zigzag(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }
}

extension [UInt8] {
    /// Appends a number in groups of seven bits, the least significant group first.
    mutating func append(variableLength number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    /// Appends the four bytes of a number, the least significant byte first.
    mutating func append(littleEndian number: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Appends the eight bytes of a number, the least significant byte first.
    mutating func append(littleEndian number: Int64) {
        for shift in stride(from: Int64(0), to: 64, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
