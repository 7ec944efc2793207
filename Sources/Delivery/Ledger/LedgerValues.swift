import SQLite
import Telemetry

/// Ledgers store times as seconds since 1970.
extension Timestamp {
    /// Creates a timestamp, or returns `nil` if `seconds` is out of range.
    init?(seconds: Int64) {
        let (milliseconds, isOver) = seconds.multipliedReportingOverflow(by: 1000)
        guard !isOver else { return nil }
        self.init(milliseconds: milliseconds)
    }

    var seconds: Int64 { milliseconds / 1000 }
}

// MARK: - Keys, stored as 16 bytes in big-endian order

extension Digest16: DatabaseValue {
    /// Binds the 16 bytes of the hash to a parameter of an SQL statement.
    public func bind(to parameter: DatabaseParameter) -> Int32 {
        let words: InlineArray<2, UInt64> = [high.bigEndian, low.bigEndian]
        return parameter.bind(words.span.bytes)
    }

    /// Reads a hash from a column, or returns `nil` if the column does not contain 16 bytes.
    init?(_ row: borrowing DatabaseRow, at column: Int) {
        let words = row.withBytes(of: column) { bytes -> (UInt64, UInt64)? in
            guard bytes.byteCount == 16 else { return nil }
            return (
                UInt64(bigEndian: bytes.unsafeLoadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        guard let words else { return nil }
        self.init(high: words.0, low: words.1)
    }
}

extension DeliveryKey {
    /// Reads the identity from the given column and the content from the next column.
    ///
    /// Returns `nil` if one of the columns does not contain 16 bytes.
    init?(_ row: borrowing DatabaseRow, at column: Int) {
        guard let identity = Digest16(row, at: column), let content = Digest16(row, at: column + 1) else { return nil }
        self.init(identity: identity, content: content)
    }
}
