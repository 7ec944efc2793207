import JSONText
import Testing

@testable import Telemetry

/// Tests which strings have the form that is required to keep them.
@Suite struct KeptFormTests {
    private static let texts: [(form: KeptForm, kept: [String], others: [String])] = [
        (.flag, ["true", "false", ""], ["True", "1", "nil"]),
        (
            .decimal, ["0", "-12", "0.000000", "1497595093.902000", "12345678901234", "5111602214338560"],
            ["1.2.3", ".5", "1-2", "inf", "x", "-", "490154203237518", "490154203237518.5", "8949200000012345678"]
        ),
        (
            .word, ["app", "E_First_Run", "find_next", "glean.baseline.duration", "TOP_SITES", "a-b", "iPhone10"],
            [
                "two words", "a@example.org", "/var/mobile", "9lives", "alice/bob", "fe80::1", "Größe", "x?y=1",
                "a\u{1B}[2J", "6B1F0C2E-4D7A-4F83-9E25-7A0C3D1B8F46", "deadbeefdeadbeef0123", "a\nb",
            ]
        ),
        (
            .name, ["iPhone11,8", "iPod touch", "iPhone OS", "D63AP", "Samsung SM-G900 (EU)"],
            [
                "+1 (415) 555-2671", "(415) 555-2671", "Anna's iPhone", "anna@example.org", "a;b",
                "11223344556677889900", "192.168.1.20", "\u{202E}x",
            ]
        ),
        (
            .model, ["iPhone11,8", "iPod touch", "iPhone OS", "D63AP", "arm64e", "org.mozilla.ios.Focus", "1.0(2)"],
            ["Anna Berg", "Anna's iPhone", "iPhone of Anna", "anna@example.org", "Größe"]
        ),
        (
            .version, ["13.3.1", "v2.2.5", "7.0", "4236", "8.1b3", "10.0.19045.1"],
            [
                "unknown", "192.168.1.20", "10.0.0.1", "1.0/x", "0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60",
                "Annas iPhone 7", "+491705551234", "170 5551234",
            ]
        ),
        (
            .locale,
            ["??", "de", "en-US", "zh-Hans_CN", "en_US@calendar=buddhist", "ar_SA@calendar=islamic;numbers=arab"],
            ["e", "english", "bob@example", "bob@example.org", "en US", "de-DE@", "de@=x", "x-y"]
        ),
        (
            .date, ["2020-03-02", "2026-01-20T04:31-05:00", "2025-09-24T15:40:00+00:00", "2025-11-03-05:00"],
            [
                "", "yesterday", "٢٠١٧-١٢-٠٨", "2020-03-02 at home", "2001:470:1:18::119", "00:11:22:33:44:55",
                "0171-1234567", "20200302", "2020-3-2", "2020-13-01", "2020-01-01 +491705551234",
                "2020-01-01T52.52043711", "2020-05-22-09:37", "2020-05-22T09+4917", "2020-05-22+16:37",
            ]
        ),
        (.zone, ["Europe/Berlin", "GMT", "America/Argentina/Buenos_Aires"], ["/etc", "a b", "x@y"]),
        (
            .scheme, ["mailto:", "googlegmail://"],
            ["mailto:anna@example.org", "mailto", "googlegmail://x", "://", ":"]
        ),
        (.oneOf(["a", "b c"]), ["a", "b c"], ["A", "c", "b"]),
        (
            .beginning("com.apple."), ["com.apple.UIKit.activity.Mail"],
            ["com.apple.", "com.example.mail", "com.apple.a@b", "xcom.apple.y"]
        ),
    ]

    @Test("A form accepts its strings and no others.", arguments: texts.indices) func form(index: Int) {
        let (form, kept, others) = Self.texts[index]
        for text in kept { #expect(form.keeps(text), "\(form): \(text)") }
        for text in others where !text.isEmpty { #expect(!form.keeps(text), "\(form): \(text)") }
    }

    @Test("A string with an id, a token or an address has no form.")
    func ids() {
        let ids = [
            "BF95FB51-DED1-463B-9A9E-043C9D711517", "0123456789abcdef0123", "AAAA043C9D711517", "10.11.12.13",
            "490154203237518", "a490154203237518", "49-015420-323751-8", "a4-83-e7-1b-9c-55", "a483.e71b.9c55",
            "ip-10-114-62-7", "10_114_62_7", "12.5.10.114.62.7", "8949020000012345678",
            "DNPXK0AAHG7F", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI3In0",
            "BF95FB51-DED1-463B-9A9E",
            String(repeating: "a", count: 101),
        ]
        for form in [KeptForm.word, .name, .model, .version, .locale, .date, .zone, .scheme, .decimal] {
            for id in ids { #expect(!form.keeps(id), "\(form): \(id)") }
        }
    }

    @Test("Numbers and Booleans are recognized by their JSON type.")
    func kinds() throws {
        let document = try JSONDocument(Array(#"[1,-2.5e3,true,false,"1","true",null,[],{}]"#.utf8))
        let elements = document.elements(of: document.root)
        func kept(_ form: KeptForm) -> [Int] { elements.indices.filter { form.matches(elements[$0], of: document) } }
        #expect(kept(.number) == [0, 1])
        #expect(kept(.anyNumber) == [0, 1])
        #expect(kept(.boolean) == [2, 3])
        #expect(kept(.flag) == [5])
        #expect(kept(.decimal) == [4])
    }

    @Test(
        "A number can have as many digits as an id of a phone or a SIM card only if it is a time.",
        arguments: [
            ("490154203237518", false), ("-490154203237518", false), ("4.90154203237518e14", false),
            ("490154203237518.0", false), ("8949200000012345678", false), ("89492000000123456789", false),
            ("12345678901234", true), ("5111602214338560", true), ("0.8500000238418579", true),
            ("1.1920928955078125e-07", true), ("0", true), ("1E3", true),
        ])
    func phoneIDs(number: String, isKept: Bool) throws {
        let document = try JSONDocument(Array(number.utf8))
        #expect(KeptForm.number.matches(document.root, of: document) == isKept)
        #expect(KeptForm.anyNumber.matches(document.root, of: document))
    }
}

extension KeptForm {
    /// Returns whether a string has the form.
    fileprivate func keeps(_ text: String) -> Bool { matches(text.utf8.span) }
}
