import Telemetry
import Testing

@testable import Capture

@Suite struct BodyEncodingTests {
    private func body(_ text: [UInt8], isBase64: Bool = false) throws -> (bytes: [UInt8], encoding: String) {
        try EntryBody.storedBytes(of: text.span, isBase64: isBase64)
    }

    @Test("Plain text is returned unchanged")
    func plain() throws {
        let body = try body(Array(#"{"é":1}"#.utf8))
        #expect(body.bytes == Array(#"{"é":1}"#.utf8))
        #expect(body.encoding == "text")
    }

    @Test("Each code point represents a byte if the text begins like a gzip body")
    func latin1() throws {
        let body = try body(Array("\u{1F}\u{8B}\u{0}a\u{FF}\u{C0}\u{80}".utf8))
        #expect(body.bytes == [0x1F, 0x8B, 0, 0x61, 0xFF, 0xC0, 0x80])
        #expect(body.encoding == "latin1")
    }

    @Test("Lone surrogates represent bytes that are not UTF-8")
    func surrogates() throws {
        // U+DC8B and U+DCFF, encoded like other code points, before and after a letter of two bytes.
        let body = try body([0x1F, 0xED, 0xB2, 0x8B, 0xC3, 0xA9, 0xED, 0xB3, 0xBF])
        #expect(body.bytes == [0x1F, 0x8B, 0xC3, 0xA9, 0xFF])
        #expect(body.encoding == "surrogateescape")
    }

    @Test(
        "Base64 is decoded with and without padding and line breaks", arguments: ["H4t7fQ==", "H4t7fQ", "H4t7\r\nfQ=="])
    func base64(text: String) throws {
        let body = try body(Array(text.utf8), isBase64: true)
        #expect(body.bytes == [0x1F, 0x8B] + Array("{}".utf8))
        #expect(body.encoding == "base64")
    }

    @Test("Invalid base64 is rejected", arguments: ["H4t7f", "H4t7fQ==x", "H4t*", "H4 t"])
    func invalidBase64(text: String) {
        #expect(throws: BodyError.self) { try body(Array(text.utf8), isBase64: true) }
    }

    @Test("A body with replacement characters is rejected")
    func lossy() {
        #expect {
            try body(Array("\u{1F}\u{FFFD}abc".utf8))
        } throws: { error in
            if case .invalid(_, "body_lossy")? = error as? BodyError { true } else { false }
        }
    }
}
