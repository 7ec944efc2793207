import Testing

@testable import PropertyList

/// Tests of binary property lists: the values of objects, and malformed files.
///
/// Source: "Keyed archives", A.2 to A.5.
@Suite struct BinaryTests {
    @Test func readsDocumentedExample() throws {
        let file = bytes(
            """
            62706c6973743030 d10102 5161 a50304050607 09 1001 13ffffffffffffffff 234004000000000000 6100e9
            080b0d1314161f28 000000000000 01 01 0000000000000008 0000000000000000 000000000000002b
            """)
        #expect(try printed(file) == #"{"a":[true,1,-1,2.5,"é"]}"#)
    }

    @Test(arguments: [
        ("00", "null"), ("08", "false"), ("09", "true"), ("10ff", "255"), ("11ffff", "65535"),
        ("12ffffffff", "4294967295"), ("13 ffffffffffffffff", "-1"), ("13 8000000000000000", "-9223372036854775808"),
        ("14 0000000000000000 ffffffffffffffff", "18446744073709551615"),
        ("14 ffffffffffffffff 8000000000000000", "-9223372036854775808"),
        ("22 3fc00000", "1.5"), ("23 3fb999999999999a", "0.1"), ("23 3ff0000000000000", "1.0"),
        ("23 8000000000000000", "-0.0"), ("22 00000000", "0.0"), ("23 bff0000000000000", "-1.0"),
        ("23 4415af1d78b58c40", "100000000000000000000.0"), ("23 444b1ae4d6e2ef50", "1e+21"),
        ("23 3eb0c6f7a0b5ed8d", "0.000001"), ("23 3e7ad7f29abcaf48", "1e-7"),
        ("23 7ff8000000000000", #"{"$real":"nan"}"#),
        ("23 fff0000000000000", #"{"$real":"-inf"}"#), ("33 0000000000000000", #""2001-01-01T00:00:00Z""#),
        ("33 bfe0000000000000", #""2000-12-31T23:59:59.500Z""#),
        ("33 7ff0000000000000", #"{"$secondsSince2001":"inf"}"#),
        ("43 010203", #"{"$data":"AQID"}"#), ("40", #"{"$data":""}"#), ("42 fbff", #"{"$data":"+/8="}"#),
        ("50", #""""#),
        ("53 612208", #""a\"\b""#), ("62 d83d de00", #""😀""#), ("62 d83d 0061", "\"\u{FFFD}a\""),
        ("61 0000", #""\u0000""#), ("80 07", #"{"CF$UID":7}"#), ("83 ffffffff", #"{"CF$UID":4294967295}"#),
        ("8f 00000000000000000000000000000009", #"{"CF$UID":9}"#), ("a0", "[]"), ("d0", "{}"), ("c0", "[]"),
        ("5f 13 0000000000000003 616263", #""abc""#),
    ])
    func readsScalars(object: String, json: String) throws {
        #expect(try printed(binary(object)) == json)
    }

    @Test(
        arguments: [
            ("0f", .badMarker), ("01", .badMarker), ("0c", .badMarker), ("15 00", .badMarker), ("21 0000", .badMarker),
            ("32 00000000", .badMarker), ("71 41", .badMarker), ("90", .badMarker), ("b0", .badMarker),
            ("e0", .badMarker),
            ("14 0000000000000001 0000000000000000", .badMarker), ("14 ffffffffffffffff 0000000000000000", .badMarker),
            ("11 01", .badLength), ("23 0000", .badLength), ("33 00", .badLength), ("80", .badLength),
            ("53 6161", .badLength), ("62 0061 00", .badLength), ("a2 00", .badLength), ("d1 00", .badLength),
            ("af 13 ffffffffffffffff", .badLength), ("df 13 4000000000000000", .badLength), ("5f 14", .badLength),
            ("5f", .badLength), ("6f 13 4000000000000000", .badLength), ("53 61e962", .badString),
            ("59 6161616161616161e9", .badString), ("87 0000000100000000", .badUID),
            ("a1 01", .badReference), ("a1 00", .containerCycle),
        ] as [(String, PropertyListError.Code)])
    func rejectsMalformedObjects(object: String, code: PropertyListError.Code) {
        #expect(errorCode(of: binary(object)) == code)
    }

    @Test func checksDictionaryKeys() throws {
        #expect(errorCode(of: binary("d1 01 02", "1001", "1002")) == .badKeyType)
        #expect(try printed(binary("d2 01 02 03 03", "516b", "516c", "1001")) == #"{"k":1,"l":1}"#)
        #expect(errorCode(of: binary("d1 01 00", "516b")) == .containerCycle)
    }

    /// Two of many keys are equal, but stored in different encodings.
    @Test func findsRepeatedKeyAmongMany() throws {
        let count = 40
        func file(_ last: String) -> [UInt8] {
            var file = Array("bplist00".utf8)
            var offsets = [file.count]
            file += [0xDF, 0x10, UInt8(count)] + (1...count).map(UInt8.init) + Array(repeating: UInt8(1), count: count)
            for number in 1..<count {
                offsets.append(file.count)
                file += [0x53] + Array("k\(number + 10)".utf8)
            }
            offsets.append(file.count)
            file += bytes(last)
            let table = file.count
            for offset in offsets { file += bigEndian(offset, 2) }
            return file + [0, 0, 0, 0, 0, 0, 2, 1] + bigEndian(count + 1, 8) + bigEndian(0, 8) + bigEndian(table, 8)
        }
        func repeatedKeys(_ last: String) throws -> PropertyListError.Code? {
            try PropertyListDocument(file(last)).repeatedKeys?.code
        }
        #expect(try repeatedKeys("63 006b 0031 0031") == .duplicateKey)
        #expect(try repeatedKeys("63 006b 0031 0061") == nil)
    }

    @Test(arguments: 1...8, 1...8) func readsOffsetsAndReferencesOfAnyWidth(offsets: Int, references: Int) throws {
        let zeros = String(repeating: "00", count: references - 1)
        let file = binary("a2 \(zeros)01 \(zeros)02", "1007", "5161", offsetSize: offsets, referenceSize: references)
        #expect(try printed(file) == #"[7,"a"]"#)
    }

    @Test func limitsDepth() {
        func nested(_ levels: Int) -> [UInt8] {
            var file = Array("bplist00".utf8)
            for level in 1..<levels { file += [0xA1] + bigEndian(level, 2) }
            file.append(0x09)
            let table = file.count
            for level in 0..<levels { file += bigEndian(8 + 3 * level, 2) }
            return file + [0, 0, 0, 0, 0, 0, 2, 2] + bigEndian(levels, 8) + bigEndian(0, 8) + bigEndian(table, 8)
        }
        #expect(errorCode(of: nested(512)) == nil)
        #expect(errorCode(of: nested(513)) == .tooDeep)
    }

    /// A shared value of 300 levels is reached both directly and through 300 other levels.
    @Test func countsDepthOfSharedValues() {
        // Object 0 refers to the middle of the chain first, so that its depth is known before the chain reaches it.
        var file = Array("bplist00".utf8)
        let levels = 600
        file += [0xA2] + bigEndian(300, 2) + bigEndian(1, 2)
        for level in 2...levels { file += [0xA1] + bigEndian(level, 2) }
        file.append(0x09)
        let table = file.count
        file += bigEndian(8, 2)
        for level in 0..<levels { file += bigEndian(13 + 3 * level, 2) }
        file += [0, 0, 0, 0, 0, 0, 2, 2] + bigEndian(levels + 1, 8) + bigEndian(0, 8) + bigEndian(table, 8)
        #expect(errorCode(of: file) == .tooDeep)
    }

    /// The references of 65,000 arrays overlap, so that the work would grow with the square of the length.
    @Test func limitsWorkForOverlappingObjects() {
        let count = 65_000
        var file = Array("bplist00".utf8)
        file += [0xAF, 0x12] + bigEndian(count - 1, 4)
        for number in 1..<count { file += bigEndian(number, 2) }
        let first = file.count
        for _ in 1..<count { file += [0xAF, 0x11, 0x7F, 0xFF] }
        file += Array(repeating: 0, count: 70_000)
        let table = file.count
        file += bigEndian(8, 3)
        for number in 1..<count { file += bigEndian(first + 4 * (number - 1), 3) }
        file += [0, 0, 0, 0, 0, 0, 3, 2] + bigEndian(count, 8) + bigEndian(0, 8) + bigEndian(table, 8)
        #expect([.budgetExceeded, .containerCycle].contains(errorCode(of: file)))
    }

    @Test func limitsLength() throws {
        let file = binary("09")
        #expect(throws: PropertyListError.self) {
            try PropertyListDocument(file, limits: PropertyListLimits(length: file.count - 1))
        }
        #expect(try PropertyListDocument(file, limits: PropertyListLimits(length: file.count)).objectCount == 1)
    }

    @Test func returnsOffsetsInFile() throws {
        let document = try PropertyListDocument(binary("a2 01 02", "1007", "5161"))
        let elements = document.elements(of: document.root)
        #expect(document.offset(of: document.root) == 8)
        #expect(document.offset(of: document.element(at: 1, of: elements)) == 13)
    }
}
