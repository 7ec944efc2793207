/// A value in a table row.
///
/// Strings are stored in a ``RowBuffer``, so that a cell is small and contains no references.
public enum Cell: Sendable, Equatable {
    /// No value.
    case null
    /// An integer.
    case integer(Int64)
    /// A number in its original notation: `count` bytes at offset `start` in ``RowBuffer/text``.
    case real(start: Int, count: UInt32)
    /// A string or JSON: `count` bytes of UTF-8 at offset `start` in ``RowBuffer/text``.
    case text(start: Int, count: UInt32)

    /// Returns an integer cell that contains 1 for `true` and 0 for `false`.
    public static func flag(_ value: Bool) -> Cell { .integer(value ? 1 : 0) }
}
