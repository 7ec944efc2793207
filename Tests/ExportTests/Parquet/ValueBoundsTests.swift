import Testing

@testable import Export

/// Tests of the statistics of columns.
@Suite struct ValueBoundsTests {
    private func bounds(ofStrings strings: [String]) throws -> (minimum: ValueBound, maximum: ValueBound?) {
        var bounds: ValueBounds?
        for string in strings { bounds.include(Array(string.utf8).span) }
        return try #require(bounds).bounds(of: .text)
    }

    private func exact(_ text: String) -> ValueBound { ValueBound(value: Array(text.utf8), isExact: true) }

    @Test("Strings are ordered by their bytes")
    func strings() throws {
        let (minimum, maximum) = try bounds(ofStrings: ["bcdefghij", "", "ä", "bcdefghia", "z"])
        #expect(minimum == exact(""))
        #expect(maximum == exact("ä"))
    }

    @Test("A long bound ends with a complete character, and an upper bound is not less than any value")
    func longStrings() throws {
        let long = String(repeating: "a", count: 63) + "äb"
        let (minimum, maximum) = try bounds(ofStrings: [long])
        let prefix = String(repeating: "a", count: 63)
        #expect(minimum == ValueBound(value: Array(prefix.utf8), isExact: false))
        #expect(maximum == ValueBound(value: Array((prefix.dropLast() + "b").utf8), isExact: false))
    }

    @Test("An upper bound is not too long, although the next character is longer")
    func longerCharacter() throws {
        let maximum = try bounds(ofStrings: [String(repeating: "a", count: 63) + "\u{7F}b"]).maximum
        let expected = String(repeating: "a", count: 62) + "b"
        #expect(maximum == ValueBound(value: Array(expected.utf8), isExact: false))
    }

    @Test("There is no upper bound for a long string of the last character")
    func lastCharacter() throws {
        #expect(try bounds(ofStrings: [String(repeating: "\u{10FFFF}", count: 17)]).maximum == nil)
    }

    @Test("The character after the last one before the surrogates is the first one after them")
    func surrogates() throws {
        let maximum = try bounds(ofStrings: [String(repeating: "\u{D7FF}", count: 22)]).maximum
        let expected = String(repeating: "\u{D7FF}", count: 20) + "\u{E000}"
        #expect(maximum == ValueBound(value: Array(expected.utf8), isExact: false))
    }

    @Test(
        "Floating-point numbers are ordered by value",
        arguments: [
            ([1.5, -2.5, 0.25], -2.5, 1.5), ([-1, -3], -3, -1), ([0, 1], 0, 1), ([-1, 0], -1, 0),
            ([-1e-300, 1e-300], -1e-300, 1e-300),
        ] as [([Double], Double, Double)])
    func reals(values: [Double], smallest: Double, largest: Double) throws {
        func bytes(_ value: Double) -> [UInt8] { withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) } }
        var bounds: ValueBounds?
        for value in values { bounds.include(ValueBounds.orderedBits(Int64(bitPattern: value.bitPattern))) }
        let (minimum, maximum) = try #require(bounds).bounds(of: .real)
        #expect(minimum.value == bytes(smallest))
        #expect(maximum?.value == bytes(largest))
    }

    @Test("Integers and flags are stored in 8 bytes and in 1 byte")
    func integers() throws {
        var bounds: ValueBounds?
        for value in [0, 1] as [Int64] { bounds.include(value) }
        let flags = try #require(bounds).bounds(of: .flag)
        #expect(flags.minimum.value == [0])
        #expect(flags.maximum?.value == [1])
        bounds.include(.min)
        let integers = try #require(bounds).bounds(of: .integer)
        #expect(integers.minimum.value == [0, 0, 0, 0, 0, 0, 0, 0x80])
        #expect(integers.maximum?.value == [1, 0, 0, 0, 0, 0, 0, 0])
    }
}
