import Testing

@testable import Bundle

@Suite struct TarHeaderTests {
    @Test(arguments: [
        ("a", 0), ("records/000000.ndjson", 511), ("x y", 512), (String(repeating: "n", count: 100), 513),
        ("..a/b..", TarHeader.maxSize),
    ])
    func roundTrip(name: String, size: Int) throws {
        let header = try TarHeader(name: name, size: size)
        let block = header.encoded()
        #expect(block.count == 512)
        #expect(try TarHeader.decode(block.span) == header)
        #expect(header.memberSize % 512 == 0)
        #expect(header.memberSize - 512 - header.padding == size)
    }

    /// Compares the bytes with a header that is constructed from the description in POSIX.
    @Test func bytesMatchPOSIX() throws {
        let block = try TarHeader(name: "ab/c", size: 10).encoded()
        var text = "ab/c" + String(repeating: "\0", count: 96)
        text += "0000600\0" + "0000000\0" + "0000000\0" + "00000000012\0" + "00000000000\0"
        text += "007223\0 " + "0" + String(repeating: "\0", count: 100) + "ustar\0" + "00"
        text += String(repeating: "\0", count: 64) + "0000000\0" + "0000000\0"
        text += String(repeating: "\0", count: 512 - text.utf8.count)
        let sum = text.utf8.enumerated().reduce(0) { $0 + ((148..<156).contains($1.0) ? 32 : Int($1.1)) }
        #expect(String(sum, radix: 8) == String(decoding: block[150..<154], as: UTF8.self))
        for index in 0..<512 where !(148..<156).contains(index) {
            #expect(block[index] == Array(text.utf8)[index], "byte \(index)")
        }
    }

    @Test(arguments: [
        "", "/a", "a/", "a//b", "../a", "a/..", "a/../b", ".", "./a", "a\n", "a\u{7f}", "ä", "a\0b",
        String(repeating: "n", count: 101),
    ])
    func invalidNamesAreRejected(name: String) {
        #expect(throws: TarHeaderError.invalidName) { try TarHeader(name: name, size: 0) }
    }

    @Test(arguments: [-1, TarHeader.maxSize + 1, Int.min, Int.max])
    func invalidSizesAreRejected(size: Int) {
        #expect(throws: TarHeaderError.invalidSize) { try TarHeader(name: "a", size: size) }
    }

    /// Replaces a part of a valid header, corrects the checksum, and decodes it.
    private func decode(_ text: String, at offset: Int) throws -> TarHeader {
        var block = try TarHeader(name: "abc", size: 10).encoded()
        block.replaceSubrange(offset..<offset + text.utf8.count, with: Array(text.utf8))
        let sum = block.enumerated().reduce(0) { $0 + ((148..<156).contains($1.0) ? 32 : Int($1.1)) }
        let digits = String(sum, radix: 8)
        let field = String(repeating: "0", count: 6 - digits.count) + digits + "\0 "
        block.replaceSubrange(148..<156, with: Array(field.utf8))
        return try TarHeader.decode(block.span)
    }

    @Test(arguments: [
        ("ustar  \0", 257, TarHeaderError.notUstar), ("\0\0\0\0\0\0\0\0", 257, .notUstar),
        ("5", 156, .unsupportedType(0x35)), ("x", 156, .unsupportedType(0x78)), ("\0", 156, .unsupportedType(0)),
        ("0000000001 ", 124, .invalidSize), ("-0000000001", 124, .invalidSize), ("00000000008", 124, .invalidSize),
        ("           ", 124, .invalidSize), ("/bc", 0, .invalidName), ("..\0", 0, .invalidName),
        ("\0", 0, .invalidName),
        ("a\0c", 0, .unexpectedField), ("0000644", 100, .unexpectedField), ("0001750", 108, .unexpectedField),
        ("14000000000", 136, .unexpectedField), ("root", 265, .unexpectedField), ("p", 345, .unexpectedField),
        ("x", 511, .unexpectedField), (" ", 135, .unexpectedField),
    ])
    func otherHeadersAreRejected(text: String, offset: Int, error: TarHeaderError) {
        #expect(throws: error) { try decode(text, at: offset) }
    }

    @Test func flippedBitsAreRejected() throws {
        let block = try TarHeader(name: "abc", size: 10).encoded()
        for index in block.indices {
            for bit in 0..<8 {
                var flipped = block
                flipped[index] ^= 1 << UInt8(bit)
                #expect(throws: TarHeaderError.self) { try TarHeader.decode(flipped.span) }
            }
        }
    }

    @Test(arguments: [0, 1, 511, 513])
    func otherLengthsAreRejected(count: Int) {
        #expect(throws: TarHeaderError.wrongLength) {
            try TarHeader.decode([UInt8](repeating: 0, count: count).span)
        }
    }
}
