import Bytes

/// The records of a pax extended header.
///
/// A record has the form `<length> <key>=<value>`, followed by a line feed. The length is the number of bytes of the
/// whole record, in decimal digits.
///
/// Source: IEEE Std 1003.1, `pax`, "pax Extended Header".
public struct PaxRecords: Sendable {
    /// A key and its value.
    public struct Record: Sendable {
        /// The key.
        public let key: ArraySlice<UInt8>
        /// The value.
        public let value: ArraySlice<UInt8>
    }

    /// The records before the first malformed record.
    public let records: [Record]
    /// Whether all records are well-formed.
    public let isWellFormed: Bool

    /// The maximum number of digits in the length of a record.
    private static let maximumDigits = 6

    /// Parses the contents of an extended header.
    public init(_ contents: [UInt8]) {
        var records: [Record] = []
        var rest = contents[...]
        while let record = Self.removeFirst(of: &rest) { records.append(record) }
        self.records = records
        isWellFormed = rest.isEmpty
    }

    /// Removes and returns the first record, or returns `nil` if it is malformed.
    private static func removeFirst(of rest: inout ArraySlice<UInt8>) -> Record? {
        guard let space = rest.prefix(maximumDigits + 1).firstIndex(of: UInt8(ascii: " ")),
            let length = PaxRecords.number(rest[..<space]), length > space - rest.startIndex + 1, length <= rest.count
        else { return nil }
        let end = rest.startIndex + length
        let record = rest[(space + 1)..<(end - 1)]
        guard rest[end - 1] == UInt8(ascii: "\n"), let sign = record.firstIndex(of: UInt8(ascii: "=")) else {
            return nil
        }
        rest = rest[end...]
        return Record(key: record[..<sign], value: record[(sign + 1)...])
    }

    /// Returns the value of decimal digits, or `nil` if they are malformed or the value is too large.
    public static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard !digits.isEmpty else { return nil }
        var value = 0
        for digit in digits {
            guard digit.isDigit, value < 1 << 58 else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }
}
