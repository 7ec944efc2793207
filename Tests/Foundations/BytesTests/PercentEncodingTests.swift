import Bytes
import Testing

@Suite struct PercentEncodingTests {
    @Test func validPathCharactersAreKept() {
        #expect(PercentEncoding.encodedPath("/a b/ä?v=4&x=%2F") == "/a%20b/%C3%A4?v=4&x=%2F")
    }

    @Test func formValuesKeepOnlyUnreservedCharacters() {
        var output: [UInt8] = []
        PercentEncoding.append(formValue: "a b+c&d=e~f/%".utf8, to: &output)
        #expect(String(decoding: output, as: UTF8.self) == "a%20b%2Bc%26d%3De~f%2F%25")
    }

    @Test func encodedTextIsDecoded() {
        #expect(PercentEncoding.decoded("a%20b+%c3%A4".utf8.span, plusIsSpace: true) == Array("a b ä".utf8))
        #expect(PercentEncoding.decoded("a+b".utf8.span, plusIsSpace: false) == Array("a+b".utf8))
    }

    @Test(arguments: ["%", "%2", "%2G", "%%20"])
    func malformedEncodingIsRejected(text: String) {
        #expect(PercentEncoding.decoded(text.utf8.span, plusIsSpace: true) == nil)
    }
}
