import Testing

@testable import PropertyList

/// Tests of XML property lists.
///
/// Source: "Keyed archives", A.6.
@Suite struct XMLTests {
    @Test(arguments: [
        ("<true/>", "true"), ("<false></false>", "false"), ("<integer> -0x2A </integer>", "-42"),
        ("<integer>+18446744073709551615</integer>", "18446744073709551615"), ("<integer>-0</integer>", "0"),
        ("<integer>-9223372036854775808</integer>", "-9223372036854775808"), ("<real>1e3</real>", "1000.0"),
        ("<real>-0</real>", "-0.0"), ("<real>1</real>", "1.0"), ("<integer>1</integer>", "1"),
        ("<real>-INFinity</real>", #"{"$real":"-inf"}"#), ("<real>NaN</real>", #"{"$real":"nan"}"#),
        ("<string/>", #""""#), ("<string> a\r\nb\rc </string>", #"" a\nb\nc ""#),
        ("<string>&lt;&amp;&gt;&quot;&apos;&#x1F600;&#65;</string>", #""<&>\"'😀A""#),
        ("<string>é<!-- no -->è<![CDATA[<&]]></string>", #""éè<&""#),
        ("<date>2020-02-29T23:59:59Z</date>", #""2020-02-29T23:59:59Z""#),
        ("<date>0001-01-01T00:00:00Z</date>", #""0001-01-01T00:00:00Z""#),
        ("<date>-0001-01-01T00:00:00Z</date>", #""-000001-01-01T00:00:00Z""#),
        ("<data> A Q\n\tID </data>", #"{"$data":"AQID"}"#), ("<data>AQ==</data>", #"{"$data":"AQ=="}"#),
        ("<array/>", "[]"), ("<array><array></array><dict/></array>", "[[],{}]"),
        ("<dict><key>b</key><true/><key>a&amp;</key><string>x</string></dict>", #"{"b":true,"a&":"x"}"#),
        ("<dict><key>CF$UID</key><integer>7</integer></dict>", #"{"CF$UID":7}"#),
        ("<dict><key>CF$UID</key><string>7</string></dict>", #"{"CF$UID":"7"}"#),
        ("<dict><key>CF$UID</key><integer>7</integer><key>a</key><true/></dict>", #"{"CF$UID":7,"a":true}"#),
        ("<!-- c --><?p i?><array >\n<true attribute='>'/></array>", "[true]"),
    ])
    func readsValues(text: String, json: String) throws {
        #expect(try printed(xml(text)) == json)
    }

    @Test(arguments: [
        "", "<true/><true/>", "text", "<evil/>", "<truely/>", "<dict><key>a</key></dict>", "<dict><true/></dict>",
        "<array><key>a</key></array>", "<array><true/></dict>", "<array>", "</array>", "<true>", "<string>a",
        "<integer/>", "<integer>12x</integer>", "<integer>18446744073709551616</integer>", "<integer>0x</integer>",
        "<integer>-9223372036854775809</integer>", "<real>0x1p3</real>", "<real></real>",
        "<date>2020-02-30T00:00:00Z</date>",
        "<date>2020-02-20</date>", "<data>A</data>", "<data>AQ=I</data>", "<data>A*==</data>",
        "<string>&nbsp;</string>",
        "<string>&#xD800;</string>", "<string>&#x110000;</string>", "<string><true/></string>", "<true/", "<plist/>",
    ])
    func rejectsMalformedXML(text: String) {
        #expect(errorCode(of: xml(text)) == .xmlSyntax)
    }

    @Test(
        "A value without an enclosing plist element is read",
        arguments: ["", "<?xml version='1.0'?>\n", "<!-- c -->", "\u{FEFF} "])
    func readsBareValues(prolog: String) throws {
        let values = [
            ("<dict><key>a</key><true/></dict>", #"{"a":true}"#), ("<array/><!-- c -->\n", "[]"),
            ("<string>a</string>", #""a""#),
        ]
        for (value, json) in values { #expect(try printed(Array((prolog + value).utf8)) == json) }
        for value in ["<true/><true/>", "<true/></plist>", "<true/>text", "<key>a</key>", "<array>"] {
            #expect(errorCode(of: Array((prolog + value).utf8)) == .xmlSyntax)
        }
    }

    @Test func rejectsOtherErrors() {
        #expect(errorCode(of: xml("<dict><key>CF$UID</key><integer>-1</integer></dict>")) == .badUID)
        #expect(errorCode(of: xml("<dict><key>CF$UID</key><integer>4294967296</integer></dict>")) == .badUID)
        func nested(_ levels: Int) -> [UInt8] {
            xml(String(repeating: "<array>", count: levels) + String(repeating: "</array>", count: levels))
        }
        #expect(errorCode(of: nested(512)) == nil)
        #expect(errorCode(of: nested(513)) == .tooDeep)
        #expect(errorCode(of: xml("<string>") + [0xFF] + Array("</string>".utf8)) == .xmlSyntax)
        #expect(errorCode(of: Array("<!DOCTYPE plist [<!ENTITY a \"b\">]><plist><true/></plist>".utf8)) == .xmlEntity)
        #expect(errorCode(of: Array("<!DOCTYPE plist []><plist><true/></plist>".utf8)) == .xmlSyntax)
        #expect(
            errorCode(of: Array("<?xml version='1.0' encoding='UTF-16'?><plist><true/></plist>".utf8)) == .xmlSyntax)
    }

    @Test("Many containers in an array are read in linear time")
    func readsManyContainers() throws {
        let count = 200_000
        let document = try PropertyListDocument(
            xml("<array>" + String(repeating: "<dict/><array/>", count: count) + "</array>"))
        #expect(document.elements(of: document.root).count == 2 * count)
    }

    @Test func returnsOffsetsInXML() throws {
        let text = "<plist><array><true/><string>é</string></array></plist>"
        let document = try PropertyListDocument(Array(text.utf8))
        let elements = document.elements(of: document.root)
        #expect(document.offset(of: document.root) == 7)
        #expect(document.offset(of: document.element(at: 1, of: elements)) == 21)
        let error = #expect(throws: PropertyListError.self) {
            try PropertyListDocument(Array("<plist><array><true/><evil/></array></plist>".utf8))
        }
        #expect(error?.offset == 21)
    }
}
