/// An optional `UInt32` that occupies four bytes, for tables with millions of entries.
///
/// A `UInt32?` occupies eight bytes in an array. In exchange, this type cannot represent `UInt32.max`.
public struct OptionalUInt32: Sendable, Hashable {
    @usableFromInline let bits: UInt32

    /// Creates an optional number, which must not be `UInt32.max`.
    @inlinable
    public init(_ value: UInt32?) {
        precondition(value != UInt32.max, "UInt32.max represents no value")
        bits = value ?? .max
    }

    /// The number, or `nil` if there is none.
    @inlinable public var value: UInt32? { bits == .max ? nil : bits }
}
