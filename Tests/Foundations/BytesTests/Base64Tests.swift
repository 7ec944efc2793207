import Bytes
import Testing

@Suite struct Base64Tests {
    /// RFC 4648, section 10.
    static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: vectors)
    func standardVectors(plain: String, encoded: String) {
        var text: [UInt8] = []
        text.append(base64: plain.utf8.span)
        #expect(String(decoding: text, as: UTF8.self) == encoded)
        #expect(Base64.decoded(encoded.utf8.span) == Array(plain.utf8))
    }

    @Test func whiteSpaceIsIgnored() {
        #expect(Base64.decoded(" Zm9v\r\nYmFy\t".utf8.span) == Array("foobar".utf8))
    }

    @Test(arguments: ["Z", "Zm9vY", "Zg=a", "Zm9v!", "Zg=", "Zm9v====", "Zm9vYg==="])
    func malformedTextIsRejected(text: String) {
        #expect(Base64.decoded(text.utf8.span) == nil)
    }

    @Test(arguments: [("Zg=", "f"), ("Zg", "f"), ("Zm9v====", "foo")])
    func paddingLengthIsOptional(text: String, plain: String) {
        #expect(Base64.decoded(text.utf8.span, needsPadding: false) == Array(plain.utf8))
    }

    @Test(arguments: [("Zm9v\r\nYmFy\n", "foobar"), ("Zm9v YmFy", nil), ("Zm9v\t", nil), (" ", nil), ("\n", "")])
    func onlyLineBreaksAreIgnoredWithoutBlanks(text: String, plain: String?) {
        #expect(Base64.decoded(text.utf8.span, allowsBlanks: false) == plain.map { Array($0.utf8) })
    }
}
