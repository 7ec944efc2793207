/// Distinct values that are numbered consecutively in the order in which they were added.
public struct NumberedValues<Value: Hashable> {
    /// The values, indexed by their numbers.
    public private(set) var values: [Value] = []
    private var numbers: [Value: UInt32] = [:]

    /// Creates a list of the given values, which are numbered from 0.
    public init(_ values: Value...) {
        for value in values { _ = number(of: value) }
    }

    /// Returns the number of `value`.
    ///
    /// The value is added if it is new.
    public mutating func number(of value: Value) -> UInt32 {
        if let number = numbers[value] { return number }
        let number = UInt32(values.count)
        values.append(value)
        numbers[value] = number
        return number
    }

    /// Returns the number of `value`, or `nil` if the value is new and there are already `limit` values.
    ///
    /// The value is added if it is new and there are fewer than `limit` values.
    public mutating func number(of value: Value, limit: Int) -> UInt32? {
        guard values.count < limit else { return numbers[value] }
        return number(of: value)
    }

    /// Returns the value with the given number.
    public subscript(number: UInt32) -> Value { values[Int(number)] }
}

extension NumberedValues: Sendable where Value: Sendable {}
