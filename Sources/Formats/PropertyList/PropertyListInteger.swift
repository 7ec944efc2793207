/// An integer from −2^63 to 2^64 − 1.
public struct PropertyListInteger: Hashable, Sendable {
    /// The low 64 bits, in two's complement.
    public let bits: UInt64
    /// Whether the integer is less than zero.
    public let isNegative: Bool

    /// The value as a signed integer, or `nil` if it is 2^63 or greater.
    public var signed: Int64? { isNegative || bits >> 63 == 0 ? Int64(bitPattern: bits) : nil }
    /// The value as an unsigned integer, or `nil` if it is negative.
    public var unsigned: UInt64? { isNegative ? nil : bits }
    /// The value rounded to the nearest real.
    public var real: Double { isNegative ? Double(Int64(bitPattern: bits)) : Double(bits) }
}

extension PropertyListInteger: CustomStringConvertible {
    /// The value in decimal.
    public var description: String { isNegative ? "\(Int64(bitPattern: bits))" : "\(bits)" }
}
