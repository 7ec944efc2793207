import JSONText
import Telemetry
import Testing

/// Tests forms whose fields are the members of the payload.
@Suite struct FormFieldsTests {
    private func json(_ text: String) throws -> String {
        String(decoding: try FormFields.json(of: Array(text.utf8)), as: UTF8.self)
    }

    private func json(_ fields: [(String, String)], areDecoded: Bool = false) throws -> String {
        let fields = fields.map { FormField(name: Array($0.utf8), value: Array($1.utf8)) }
        return String(decoding: try FormFields.json(of: fields, areDecoded: areDecoded), as: UTF8.self)
    }

    @Test(
        "The fields of a form become strings in their order, decoded once.",
        arguments: [
            ("a=1", #"{"a":"1"}"#), ("b=1&a=2", #"{"b":"1","a":"2"}"#), ("a=", #"{"a":""}"#), ("=x", #"{"":"x"}"#),
            ("=", #"{"":""}"#), ("a=b=c", #"{"a":"b=c"}"#), ("a+b=c+d%20e", #"{"a b":"c d e"}"#),
            ("%61%3D=%2B%26", #"{"a=":"+&"}"#), ("a=%2541", #"{"a":"%41"}"#), ("a=%22%5C%0A", #"{"a":"\"\\\n"}"#),
            ("a=%c3%A9", #"{"a":"é"}"#), ("a=é", #"{"a":"é"}"#), ("a=%00", #"{"a":"\u0000"}"#),
            ("a=null&b=1", #"{"a":"null","b":"1"}"#), ("a={}", #"{"a":"{}"}"#),
        ])
    func forms(text: String, expected: String) throws {
        #expect(try json(text) == expected)
    }

    @Test(
        "A repeated field becomes a repeated key, which readers of JSON reject.", arguments: ["a=1&a=1", "a=1&%61=2"])
    func repeated(text: String) throws {
        let object = try json(text)
        #expect(object.ranges(of: #""a":"#).count == 2)
        #expect(throws: JSONError.self) { try JSONDocument(Array(object.utf8)) }
    }

    @Test(
        "A pair without an equals sign or with a malformed escape is rejected.",
        arguments: [
            "", "a", "a&b=1", "b=1&a", "a=1&", "&a=1", "a=1&&b=2", "a=%", "a=%4", "a=%zz", "a=1&b=%", "%zz=1", "%=1",
            "a=%u0041",
        ])
    func malformed(text: String) {
        #expect(throws: BodyError.self) { try json(text) }
    }

    @Test(
        "A field that is not UTF-8 is rejected.",
        arguments: [
            "a=%ff", "%C3=1", "a=%ED%A0%80", "a=%ED%FF%FF", "a=%C0%80", "a=%F5%80%80%80", "a=%ED%A0%80%ED%B0%80",
        ])
    func invalidUTF8(text: String) throws {
        #expect(throws: BodyError.self) { try json(text) }
    }

    @Test("Fields that a log lists decoded are used as they are.")
    func decodedFields() throws {
        #expect(try json([("a", "a+b%20"), ("%61", "=&")], areDecoded: true) == #"{"a":"a+b%20","%61":"=&"}"#)
        #expect(try json([("a", "%zz"), ("", "")], areDecoded: true) == #"{"a":"%zz","":""}"#)
    }

    @Test("Fields that a log lists encoded are decoded once.")
    func encodedFields() throws {
        #expect(try json([("a", "a+b%20%2541"), ("%61%62", "=&")]) == #"{"a":"a b %41","ab":"=&"}"#)
        #expect(try json([(String, String)]()) == "{}")
        for field in [("a", "%zz"), ("%", "1")] { #expect(throws: BodyError.self) { try json([field]) } }
    }
}
