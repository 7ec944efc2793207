/// An integer from −2^63 to 2^64 − 1.
public struct PropertyListInteger: Hashable, Sendable {
    /// The low 64 bits, in two's complement.
    public let bits: UInt64
    /// Whether it is below zero.
    public let isNegative: Bool

    /// The value, if it is below 2^63.
    public var signed: Int64? { isNegative || bits >> 63 == 0 ? Int64(bitPattern: bits) : nil }
    /// The value, if it is not negative.
    public var unsigned: UInt64? { isNegative ? nil : bits }
    /// The nearest real.
    public var real: Double { isNegative ? Double(Int64(bitPattern: bits)) : Double(bits) }
}

extension PropertyListInteger: CustomStringConvertible {
    /// The value in decimal.
    public var description: String { isNegative ? "\(Int64(bitPattern: bits))" : "\(bits)" }
}
