import Testing

@testable import PropertyList

/// Tests of the output for the Foundation classes in "Keyed archives", part C.
@Suite struct FoundationClassTests {
    @Test(arguments: [
        ("'text'", #""text""#), ("True", "true"), ("18446744073709551615", "18446744073709551615"), ("0.5", "0.5"),
        ("b'abc'", #"{"$data":"YWJj"}"#),
        ("{'$class': U(2), 'NS.string': 'é'}, cls('NSMutableString', 'NSString')", #""é""#),
        ("{'$class': U(2), 'NS.bytes': b'\\xc3\\xa9'}, cls('NSMutableString', 'NSString')", #""é""#),
        ("{'$class': U(2), 'NS.bytes': b'\\xc3'}, cls('NSString')", "\"\u{FFFD}\""),
        ("{'$class': U(2), 'NS.data': b'abc'}, cls('NSMutableData', 'NSData')", #"{"$data":"YWJj"}"#),
        ("{'$class': U(2), 'NS.time': 604800.25}, cls('NSDate')", #""2001-01-08T00:00:00.250Z""#),
        (
            "{'$class': U(2), 'NS.uuidbytes': bytes(range(16))}, cls('NSUUID')",
            #""00010203-0405-0607-0809-0A0B0C0D0E0F""#
        ),
        ("{'$class': U(2)}, cls('NSNull')", "null"),
        ("{'$class': U(2), 'NS.intval': 5}, cls('NSNumber', 'NSValue')", "5"),
        ("{'$class': U(2), 'NS.boolval': True}, cls('NSNumber', 'NSValue')", "true"),
        (
            "{'$class': U(3), 'NS.base': U(4), 'NS.relative': U(2)}, '../x?q', cls('NSURL'), {'$class': U(3), 'NS.base': U(0), 'NS.relative': U(5)}, 'http://h/a/b/c'",
            #""http://h/a/x?q""#
        ),
        ("{'$class': U(2), 'NSString': U(3), 'NSAttributes': U(0)}, cls('NSAttributedString'), 'plain'", #""plain""#),
        ("{'$class': U(2), 'NS.special': 1, 'NS.pointval': U(3)}, cls('NSValue'), '{1, 2}'", #""{1, 2}""#),
        (
            "{'$class': U(2), 'NS.special': 4, 'NS.rangeval.location': U(3), 'NS.rangeval.length': U(4)}, cls('NSValue'), 3, 9",
            #"{"location":3,"length":9}"#
        ),
        (
            "{'$class': U(2), 'NS.special': 12, 'NS.edgeval.top': 1.0, 'NS.edgeval.left': 0.5, 'NS.edgeval.bottom': 2.0, 'NS.edgeval.right': 3.0}, cls('NSValue')",
            #"{"top":1.0,"left":0.5,"bottom":2.0,"right":3.0}"#
        ),
        ("{'$class': U(2), 'NS.objects': [U(3), U(0)]}, cls('NSSet'), 'a'", #"["a",null]"#),
        (
            "{'$class': U(2), 'NS.count': 1, 'NS.object0': U(3), 'NS.count0': 5}, cls('NSCountedSet', 'NSMutableSet', 'NSSet'), 'x'",
            #"{"$class":"NSCountedSet","NS.count":1,"NS.object0":"x","NS.count0":5}"#
        ),
        (
            "{'$class': U(2), 'NS.object.1': U(4), 'NS.object.0': U(3), 'NS.object.3': U(3)}, cls('NSOrderedSet'), 'a', 'b'",
            #"["a","b"]"#
        ),
        ("{'$class': U(2)}, cls('NSOrderedSet')", "[]"),
        ("{'$class': U(2), 'NS.object.0': U(3)}, cls('NSArray'), 'a'", #"["a"]"#),
        (
            "{'$class': U(2), 'NS.keys': [U(3)], 'NS.objects': [U(4)]}, cls('NSMutableDictionary', 'NSDictionary'), 'k', 7",
            #"{"k":7}"#
        ),
        ("{'$class': U(2), 'NS.key.0': U(3), 'NS.object.0': U(4)}, cls('NSDictionary'), 'k', 7", #"{"k":7}"#),
        (
            "{'$class': U(2), 'NS.keys': [U(3)], 'NS.objects': [U(4)]}, cls('NSDictionary'), 5, 7",
            #"{"$entries":[[5,7]]}"#
        ),
        ("{'$class': U(2), 'NS.objects': []}, cls('MyList', 'NSMutableArray', 'NSArray')", "[]"),
        (
            "{'$class': U(2), 'count': 3, 'owner': U(3), 'none': U(0), 'list': [U(3)]}, cls('Shop.Cart'), 'me'",
            #"{"$class":"Shop.Cart","count":3,"owner":"me","none":null,"list":["me"]}"#
        ),
    ])
    func printsInstances(objects: String, json: String) throws {
        let file = try Archive.make(objects)
        // The members of an instance are in the order of the file, which is that of Python's dictionary.
        #expect(try printed(file) == json)
    }

    @Test(arguments: [
        (1, 0, false, "0"), (12345, 0, false, "12345"), (12345, -2, true, "-123.45"), (5, -3, false, "0.005"),
        (7, 3, false, "7000"),
    ])
    func printsDecimalNumbers(mantissa: Int, exponent: Int, negative: Bool, text: String) throws {
        let length = text == "0" ? 0 : 1
        let file = try Archive.make(
            """
            {'$class': U(2), 'NS.exponent': \(exponent), 'NS.length': \(length), 'NS.negative': \(negative ? "True" : "False"),
             'NS.compact': True, 'NS.mantissa.bo': 1, 'NS.mantissa': (\(mantissa)).to_bytes(16, 'little')},
            cls('NSDecimalNumberPlaceholder', 'NSDecimalNumber', 'NSNumber', 'NSValue')
            """)
        #expect(try printed(file) == text)
    }

    @Test(arguments: [
        ("{'$class': U(9)}", "bad-class"), ("{'$class': U(0xFFFFFFFF)}", "bad-class"), ("{'$class': 5}", "bad-class"),
        ("{'$class': U(2)}, 'text'", "bad-class"),
        ("{'$class': U(2)}, {'$classes': ['A']}", "bad-class"), ("{'a': 1}", "bad-class"),
        ("{'$class': U(2)}, cls('NSArray')", "bad-collection"),
        ("{'$class': U(2), 'NS.objects': U(0)}, cls('NSArray')", "bad-collection"),
        ("{'$class': U(2), 'NS.objects': ['inline']}, cls('NSArray')", "bad-collection"),
        ("{'$class': U(2), 'NS.objects': [U(1)]}, cls('NSDictionary')", "bad-collection"),
        ("{'$class': U(2), 'NS.keys': [], 'NS.objects': [U(1)]}, cls('NSDictionary')", "bad-collection"),
        ("{'$class': U(2), 'NS.objects': [U(77)]}, cls('NSArray')", "uid-out-of-range"),
        ("{'$class': U(2), 'NS.uuidbytes': bytes(15)}, cls('NSUUID')", "bad-value"),
        ("{'$class': U(2), 'NS.string': U(1)}, cls('NSMutableString')", "bad-value"),
        ("{'$class': U(2), 'NS.time': 'noon'}, cls('NSDate')", "bad-value"),
    ])
    func printsErrors(objects: String, code: String) throws {
        #expect(try printed(try Archive.make(objects)).contains(#"{"$error":"\#(code): "#))
    }
}
