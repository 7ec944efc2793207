/// A value of a row. Texts stand in a ``RowBuffer``, so that a cell is small and refers to nothing.
public enum Cell: Sendable, Equatable {
    /// No value.
    case null
    /// A whole number.
    case integer(Int64)
    /// A number as the text that it was stored as, so many bytes from a place on.
    case real(start: Int, count: UInt32)
    /// A text or JSON, so many bytes of UTF-8 from a place on.
    case text(start: Int, count: UInt32)

    /// 0 or 1.
    public static func flag(_ value: Bool) -> Cell { .integer(value ? 1 : 0) }
}
