import Testing

@testable import PropertyList

/// Tests that XML property lists in UTF-16 are read like those in UTF-8.
///
/// Offsets are those in the source.
@Suite struct UTF16Tests {
    private static let text =
        "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<!DOCTYPE plist>\n<plist version=\"1.0\"><dict><key>ключ</key>"
        + "<array><string>😀€é a</string><integer>7</integer></array></dict></plist>\n"

    private func utf16(_ text: String, isBigEndian: Bool, mark: Bool = true) -> [UInt8] {
        ((mark ? [0xFEFF] : []) + Array(text.utf16)).flatMap { unit in
            let bytes = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return isBigEndian ? bytes : bytes.reversed()
        }
    }

    @Test("Both byte orders are read", arguments: [true, false])
    func readsBothByteOrders(isBigEndian: Bool) throws {
        let list = try PropertyListDocument(utf16(Self.text, isBigEndian: isBigEndian))
        let array = try #require(list.value(of: "ключ", in: list.root))
        let elements = list.elements(of: array)
        let string = list.element(at: 0, of: elements)
        #expect(list.string(of: string) == "😀€é a")
        #expect(list.integer(of: list.element(at: 1, of: elements)).signed == 7)
        // The offset of a tag is that of the mark plus two bytes for each unit.
        for (node, tag) in [(list.root, "<dict>"), (array, "<array>"), (string, "<string>")] {
            let units = Self.text.utf16.count - Self.text[Self.text.range(of: tag)!.lowerBound...].utf16.count
            #expect(list.offset(of: node) == 2 + 2 * units, "\(tag)")
        }
    }

    @Test("Each offset in a long text is mapped to the source")
    func offsetsAreThoseOfTheSource() throws {
        let text = String(repeating: "a😀é€", count: 100) + "z"
        let source = utf16(text, isBigEndian: false)
        let read = try UTF16Source(source.span, isBigEndian: false)
        #expect(read.utf8 == Array(text.utf8))
        var (index, offset) = (0, 2)
        for scalar in text.unicodeScalars {
            for byte in 0..<scalar.utf8.count {
                #expect(read.offset(of: index + byte, in: source.span) == offset)
            }
            index += scalar.utf8.count
            offset += 2 * scalar.utf16.count
        }
        #expect(read.offset(of: index, in: source.span) == source.count)
    }

    @Test("Errors have the offset in the source")
    func reportsErrorsWithOffset() {
        let cases: [(bytes: [UInt8], code: PropertyListError.Code, offset: Int)] = [
            ([0xFF, 0xFE], .notPlist, 0), ([0xFE, 0xFF, 0x00, 0x3C], .notPlist, 0),
            (utf16("<plist><true/></plist>", isBigEndian: true, mark: false), .notPlist, 0),
            (utf16("{ a = b; }", isBigEndian: true), .notPlist, 0),
            (utf16("<plist><true/></plist>", isBigEndian: true) + [0], .xmlSyntax, 46),
            (utf16("<plist><string>é</strin></plist>", isBigEndian: false), .xmlSyntax, 34),
            (utf16("<?xml version='1.0' encoding='latin1'?><plist/>", isBigEndian: false), .xmlSyntax, 2),
            (utf16("<plist><!ENTITY x 'y'></plist>", isBigEndian: true), .xmlEntity, 16),
            // The text contains a lone high surrogate or a lone low surrogate.
            (
                utf16("<plist><string>", isBigEndian: true) + [0xD8, 0x3D]
                    + utf16("</string></plist>", isBigEndian: true, mark: false), .xmlSyntax, 32
            ),
            (
                utf16("<plist><string>", isBigEndian: true) + [0xDE, 0x00]
                    + utf16("</string></plist>", isBigEndian: true, mark: false), .xmlSyntax, 32
            ),
            (utf16("<plist><string>", isBigEndian: true) + [0xD8, 0x3D], .xmlSyntax, 32),
        ]
        for (bytes, code, offset) in cases {
            do throws(PropertyListError) {
                _ = try PropertyListDocument(bytes)
                Issue.record("read: \(bytes)")
            } catch {
                #expect(error.code == code, "\(error)")
                #expect(error.offset == offset, "\(error)")
            }
        }
    }

    @Test("A text without a mark that declares UTF-16 is rejected")
    func rejectsUTF16WithoutMark() {
        #expect(throws: PropertyListError.self) {
            try PropertyListDocument(Array("<?xml version='1.0' encoding='UTF-16'?><plist><true/></plist>".utf8))
        }
    }
}
