import Bytes
import Testing

@Suite struct PrintableTextTests {
    @Test(
        "invisible and terminal control characters are escaped",
        arguments: [
            ("", ""), ("Focus 8.1.3", "Focus 8.1.3"), ("\u{1B}[2J", #"\u{1B}[2J"#), ("a\r\nb", #"a\u{D}\u{A}b"#),
            ("\0\u{7}\u{7F}", #"\u{0}\u{7}\u{7F}"#), ("\u{80}\u{9B}31m\u{9F}", #"\u{80}\u{9B}31m\u{9F}"#),
            ("\u{202E}gpj.exe\u{202C}", #"\u{202E}gpj.exe\u{202C}"#), ("a\u{2028}b\u{2029}", #"a\u{2028}b\u{2029}"#),
            ("\u{2066}x\u{2069}", #"\u{2066}x\u{2069}"#), ("a\u{200B}b\u{FEFF}", #"a\u{200B}b\u{FEFF}"#),
            ("a\u{3164}\u{115F}\u{34F}b", #"a\u{3164}\u{115F}\u{34F}b"#), ("\u{FE00}\u{FE0F}", #"\u{FE00}\u{FE0F}"#),
            ("so\u{AD}ft", #"so\u{AD}ft"#), ("\u{E0041}\u{E007F}", #"\u{E0041}\u{E007F}"#),
        ])
    func invisible(text: String, shown: String) { #expect(text.printable == shown) }

    @Test(
        "visible characters of any script are unchanged",
        arguments: ["Föcus – “Klar”", "东京", "العربية", "e\u{301}", "🇩🇪👍🏽", "a\u{A0}b", "\\u{1B}"])
    func visible(text: String) {
        #expect(text.printable == text)
        #expect(text.printableLines == text)
    }

    @Test("multiline text keeps only its line feeds and tabs unescaped")
    func lines() {
        #expect("a\tb\nc\rd\u{1B}".printableLines == "a\tb\nc\\u{D}d\\u{1B}")
    }

    @Test("every control character and every default-ignorable code point is escaped")
    func everyScalar() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isControl = scalar.properties.generalCategory == .control
            guard isControl || scalar.properties.isDefaultIgnorableCodePoint else { continue }
            #expect(!String(scalar).printable.unicodeScalars.contains(scalar))
        }
    }
}
