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
                "lat48.137154-lon11.576124", "N48.1371", "tel4917055512345",
            ]
        ),
        (
            .name, ["iPhone11,8", "iPod touch", "iPhone OS", "D63AP", "Samsung SM-G900 (EU)"],
            [
                "+1 (415) 555-2671", "(415) 555-2671", "Anna's iPhone", "anna@example.org", "a;b",
                "11223344556677889900", "192.168.1.20", "\u{202E}x", "48.137154, 11.576124", "4901 5420 3237 518",
                "490154,203237518", "5454 5454 5454 5454",
            ]
        ),
        (
            .model,
            [
                "iPhone1,1", "iPhone9,3", "iPhone10,4", "iPhone11,8", "iPhone15,4", "iPad6,11", "iPod9,1",
                "Watch6,18", "AppleTV14,1", "MacBookPro18,3", "RealityDevice14,1", "D101AP", "D201AP", "D63AP",
                "J71sAP",
                "N104AP", "iPhone", "iPad", "iPod touch", "iPad Simulator", "Apple", "iOS", "ios", "iPhone OS",
                "Mac OS X", "Android", "arm64", "arm64e", "armv7s", "x86_64", "i386", "SM-G900F", "CPH2013",
            ],
            [
                "Anna Berg", "Anna's iPhone", "iPhone of Anna", "anna@example.org", "Größe", "Anna", "Annas-iPhone",
                "Lindqvist1984", "annas-iphone-7.local", "48.137154", "48.137154,11.576124", "48,137154", "-122.41941",
                "48,11", "1,490154", "iPhone490154,203237", "490154,203237518", "4901542032375186",
                "(490154)(203237518)",
                "490-154-203", "4155552671", "org.mozilla.ios.Focus", "H4PDXXL2Q1", "u281z7j57", "iPhone10,4,1",
                "AAAA-B1234CC",
            ]
        ),
        (
            .version,
            [
                "3", "9", "77", "318", "2431", "4236", "12646", "59544", "1.03", "3.10", "7.0", "9.3", "126.1", "1.4.2",
                "8.1.3", "13.3.1", "24.0.0", "60.5.0", "v1.0.0", "v2.2.5", "v0.1.3-alpha", "8.1b3", "70.0a1", "1.0(2)",
                "10.0.19045.1", "17F80", "15D100", "19A5252n", "2020.5.1", "1.2.0-beta.3", "4.0rc2", "20200522",
                "2020052214", "202005221405", "20200522140512",
            ],
            [
                "unknown", "192.168.1.20", "10.0.0.1", "1.0/x", "0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60",
                "Annas iPhone 7", "+491705551234", "170 5551234", "48.137154", "48.1371", "48.137154,11.576124",
                "-122.41941", "48.137154.11.576124", "491705551234", "4155552671", "89432176", "20209922",
                "490154203237518", "4901542032375186", "490154,203237518", "4901.5420.3237.518", "490154-203237518",
                "123456.789", "7lindqvist", "1.0-lindqvist", "1.0(490154)", "1..0", "1.", "1.0-", "v", "1.2.3.4.5.6",
                "12345678(9)",
            ]
        ),
        (
            .locale,
            [
                "??", "de", "haw", "en-US", "es-419", "zh-Hans_CN", "zh-Hant-TW_TW", "ca_ES_VALENCIA", "sl-rozaj-1994",
                "en_US@calendar=buddhist", "ar_SA@calendar=islamic;numbers=arab", "en_US@hours=h23", "en-u-ca-buddhist",
            ],
            [
                "e", "english", "bob@example", "bob@example.org", "en US", "de-DE@", "de@=x", "x-y", "de-4917055512",
                "de_annalindqvist", "de-48137154", "de@calendar=49170555", "de1", "de--DE", "de-",
            ]
        ),
        (
            .date, ["2020-03-02", "2026-01-20T04:31-05:00", "2025-09-24T15:40:00+00:00", "2025-11-03-05:00"],
            [
                "", "yesterday", "٢٠١٧-١٢-٠٨", "2020-03-02 at home", "2001:470:1:18::119", "00:11:22:33:44:55",
                "0171-1234567", "20200302", "2020-3-2", "2020-13-01", "2020-01-01 +491705551234",
                "2020-01-01T52.52043711", "2020-05-22-09:37", "2020-05-22T09+4917", "2020-05-22+16:37",
            ]
        ),
        (
            .zone,
            ["Europe/Berlin", "GMT", "GMT+0200", "UTC", "EST5EDT", "Etc/GMT-14", "America/Argentina/Buenos_Aires"],
            ["/etc", "a b", "x@y", "Anna/Lindqvist", "Lindqvist", "Europe/491705551234", "home/anna"]
        ),
        (
            .scheme, ["mailto:", "googlegmail://"],
            ["mailto:anna@example.org", "mailto", "googlegmail://x", "://", ":"]
        ),
        (
            .code(length: 12), ["16nwqeiekul0", "2djj0sauhwns", "z5bd2maegmb9"],
            ["491705551234", "a483e71b9c55", "DNPXK0AAHG7F", "z5bd2maegmb", "z5bd2maegmb99", "z5bd2 aegmb9"]
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
