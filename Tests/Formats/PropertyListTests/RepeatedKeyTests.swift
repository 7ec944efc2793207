import Testing

@testable import PropertyList

/// Tests that the first value of a repeated key is kept, and that the repetition is reported.
///
/// Source: "Keyed archives", A.5.
@Suite struct RepeatedKeyTests {
    @Test(arguments: [
        // The keys are one object, two objects, or two encodings of one string.
        (binary("d2 01 01 02 03", "516b", "1001", "1002"), #"{"k":1}"#, 1, 8),
        (binary("d2 01 02 03 04", "516b", "516b", "1001", "1002"), #"{"k":1}"#, 1, 8),
        (binary("d2 01 02 03 04", "516b", "61006b", "1001", "1002"), #"{"k":1}"#, 1, 8),
        // The other members keep their order.
        (
            binary("d4 01 02 01 03 04 05 06 07", "516b", "516c", "516d", "1001", "1002", "1003", "1004"),
            #"{"k":1,"l":2,"m":4}"#, 1, 8
        ),
        (binary("d3 01 01 01 02 03 02", "516b", "1001", "1002"), #"{"k":1}"#, 2, 8),
        // Two object numbers share an offset, and two dictionaries have the same keys.
        (binary("a2 01 01", "d2 02 02 03 04", "516b", "1001", "1002"), #"[{"k":1},{"k":1}]"#, 1, 11),
        (
            binary("a2 02 01", "d2 03 03 04 05", "d2 03 03 05 04", "516b", "1001", "1002"),
            #"[{"k":2},{"k":1}]"#, 2, 11
        ),
        (
            xml("<dict><key>a</key><true/><key>b</key><true/><key>a</key><false/></dict>"),
            #"{"a":true,"b":true}"#, 1, 60
        ),
        (
            xml("<dict><key>a</key><array/><key>a</key><dict><key>b</key><true/><key>b</key><true/></dict></dict>"),
            #"{"a":[]}"#, 2, 60
        ),
    ])
    func keepsFirstValue(file: [UInt8], json: String, count: Int, offset: Int) throws {
        let document = try PropertyListDocument(file)
        let words = count == 1 ? "a repeated key" : "\(count) repeated keys"
        #expect(
            document.repeatedKeys
                == PropertyListError(.duplicateKey, at: offset, "\(words), of which the first value counts"))
        var printer = try PropertyListPrinter(document)
        var output: [UInt8] = []
        while printer.write(atLeast: output.count + 1, to: &output) {}
        #expect(String(decoding: output, as: UTF8.self).filter { !$0.isWhitespace } == json)
        #expect(printer.warnings.map(\.error) == [document.repeatedKeys])
        #expect(printer.isLossy)
    }

    @Test func reportsNothingWithoutRepeatedKeys() throws {
        for file in [binary("d2 01 02 03 03", "516b", "516c", "1001"), xml("<dict><key>a</key><true/></dict>")] {
            #expect(try PropertyListDocument(file).repeatedKeys == nil)
        }
    }

    @Test func returnsOffsetsInFile() throws {
        let document = try PropertyListDocument(binary("d2 01 01 02 03", "516b", "a103", "1002"))
        #expect(document.offset(of: document.root) == 8)
        let value = try #require(document.value(of: "k", in: document.root))
        #expect(document.offset(of: value) == 15)
        #expect(document.offset(of: document.element(at: 0, of: document.elements(of: value))) == 17)
        let text = "<plist><dict><key>a</key><true/><key>a</key><true/></dict></plist>"
        let wide = try PropertyListDocument([0xFE, 0xFF] + text.utf8.flatMap { [0, $0] })
        #expect(wide.repeatedKeys?.offset == 16)
    }

    @Test("The value of a repeated key must be valid", arguments: ["d2 01 01 02 09", "d2 01 01 02 00"])
    func checksRepeatedValues(dictionary: String) {
        #expect(errorCode(of: binary(dictionary, "516b", "1001")) != nil)
    }

    /// Keys with equal fingerprints are compared only with the distinct keys among them.
    @Test func removesManyRepeatedKeys() throws {
        let count = 60_000
        var file = Array("bplist00".utf8) + [0xDF, 0x12] + bigEndian(count, 4)
        for number in 0..<2 * count { file += bigEndian(number < count ? 1 : 2, 2) }
        let offsets = [8, file.count, file.count + 2]
        file += bytes("516b 09")
        let table = file.count
        for offset in offsets { file += bigEndian(offset, 4) }
        file += [0, 0, 0, 0, 0, 0, 4, 2] + bigEndian(3, 8) + bigEndian(0, 8) + bigEndian(table, 8)
        #expect(try printed(file) == #"{"k":true}"#)
    }

    @Test func readsKeyedArchives() throws {
        func reference(_ number: Int) -> String { "<dict><key>CF$UID</key><integer>\(number)</integer></dict>" }
        let file = xml(
            """
            <dict><key>$version</key><integer>100000</integer><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>\(reference(1))<key>root</key>\(reference(2))</dict>
            <key>$objects</key><array><string>$null</string><string>first</string><string>second</string></array></dict>
            """)
        #expect(try PropertyListDocument(file).repeatedKeys?.code == .duplicateKey)
        #expect(try printed(file) == #""first""#)
    }
}
