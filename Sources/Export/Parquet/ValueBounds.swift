import Bytes
import JSONText
import Telemetry

/// The smallest and the largest value of a column in a row group.
///
/// Source: Parquet, "Statistics"; `parquet.thrift`, `Statistics` and `ColumnOrder`.
enum ValueBounds {
    case numbers(ClosedRange<Int64>)
    case strings(smallest: [UInt8], largest: [UInt8])

    /// The maximum size of a bound in bytes.
    ///
    /// Longer strings are truncated, so that the metadata stays small.
    static let maxSize = 64
}

extension ValueBounds {
    /// Maps the bits of a floating-point number to an integer, so that the integers have the same order as the numbers.
    ///
    /// The mapping is its own inverse.
    static func orderedBits(_ bits: Int64) -> Int64 { bits ^ (bits >> 63 & .max) }

    /// Returns the bounds as stored in statistics.
    ///
    /// The maximum is `nil` if every upper bound has more than ``maxSize`` bytes.
    func bounds(of kind: TableColumn.Kind) -> (minimum: ValueBound, maximum: ValueBound?) {
        switch self {
        case .numbers(let numbers): Self.numberBounds(numbers, kind)
        case .strings(let smallest, let largest):
            (Self.lowerBound(ofString: smallest), Self.upperBound(ofString: largest))
        }
    }

    private static func numberBounds(
        _ numbers: ClosedRange<Int64>, _ kind: TableColumn.Kind
    ) -> (minimum: ValueBound, maximum: ValueBound?) {
        func bound(_ number: Int64) -> ValueBound {
            var bytes: [UInt8] = []
            switch kind {
            case .flag: bytes.append(UInt8(number))
            case .integer, .time, .text, .json: bytes.append(littleEndian: number)
            case .real: bytes.append(littleEndian: orderedBits(number))
            }
            return ValueBound(value: bytes, isExact: true)
        }
        return (bound(numbers.lowerBound), bound(numbers.upperBound))
    }

    private static func lowerBound(ofString string: [UInt8]) -> ValueBound {
        let bytes = string[...].utf8Prefix(maxSize)
        return ValueBound(value: Array(bytes), isExact: bytes.count == string.count)
    }

    /// Returns a string of limited size that is not less than `string`, or `nil` if there is no such string.
    private static func upperBound(ofString string: [UInt8]) -> ValueBound? {
        let bytes = string[...].utf8Prefix(maxSize)
        guard bytes.count < string.count else { return ValueBound(value: string, isExact: true) }
        // Incrementing a character of the prefix makes it greater than all strings with this prefix.
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        while let last = scalars.popLast() {
            guard let next = last.next else { continue }
            scalars.append(next)
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars)
            let bound = Array(String(view).utf8)
            // The next character can have more bytes in UTF-8.
            if bound.count <= maxSize { return ValueBound(value: bound, isExact: false) }
            scalars.removeLast()
        }
        return nil
    }
}

extension Unicode.Scalar {
    /// The next character in the order of code points, or `nil` for the last one.
    fileprivate var next: Unicode.Scalar? {
        // The code points of surrogates are not characters.
        value == 0xD7FF ? "\u{E000}" : Unicode.Scalar(value + 1)
    }
}

extension Optional<ValueBounds> {
    mutating func include(_ number: Int64) {
        guard case .numbers(let numbers) = self else { return self = .numbers(number...number) }
        if !numbers.contains(number) {
            self = .numbers(Swift.min(number, numbers.lowerBound)...Swift.max(number, numbers.upperBound))
        }
    }

    mutating func include(_ string: Span<UInt8>) {
        guard case .strings(let smallest, let largest) = self else {
            let bytes = string.copied()
            return self = .strings(smallest: bytes, largest: bytes)
        }
        if string.ordered(against: smallest.span) < 0 {
            self = .strings(smallest: string.copied(), largest: largest)
        } else if largest.span.ordered(against: string) < 0 {
            self = .strings(smallest: smallest, largest: string.copied())
        }
    }
}
