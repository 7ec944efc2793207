import Bytes

/// The records of an extended header, each `<length> <key>=<value>` and a line feed, the length being that of all of it.
///
/// Source: IEEE Std 1003.1, `pax`, "pax Extended Header".
public struct PaxRecords: Sendable {
    /// A key and what it stands for.
    public struct Record: Sendable {
        /// What is told.
        public let key: ArraySlice<UInt8>
        /// What is told of it.
        public let value: ArraySlice<UInt8>
    }

    /// The records in front of the first bytes that are none.
    public let records: [Record]
    /// Whether all bytes are records.
    public let isWhole: Bool

    /// The most digits of a length.
    private static let mostDigits = 6

    /// Reads the contents of an extended header.
    public init(_ contents: [UInt8]) {
        var records: [Record] = []
        var rest = contents[...]
        while let record = Self.first(of: &rest) { records.append(record) }
        self.records = records
        isWhole = rest.isEmpty
    }

    /// Takes a record off the front; nil, and nothing taken, if there is none.
    private static func first(of rest: inout ArraySlice<UInt8>) -> Record? {
        guard let space = rest.prefix(mostDigits + 1).firstIndex(of: UInt8(ascii: " ")),
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

    /// A number in decimal digits; nil if it is none or too large.
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
