import Foundation
import TestSupport
import Testing

@testable import Telemetry

/// Tests hiding credentials that a server repeats in any form.
@Suite struct SecretMaskTests {
    private static let key = "prod_A9/x+y=Zq7-Lw"
    private static let mask = SecretMask([key])

    private func shown(_ text: String, isTruncated: Bool = false) -> String {
        String(decoding: Self.mask.masked(text.utf8, isTruncated: isTruncated), as: UTF8.self)
    }

    @Test(arguments: [
        key, key.uppercased(), #"prod_A9\/x+y=Zq7-Lw"#, #"\u0070rod_A9/x+y=Zq7-Lw"#,
        #"\u0070\u0072\u006F\u0064_A9/x+y=Zq7-Lw"#,
        #"\\u0070rod_A9\\\/x+y=Zq7-Lw"#, #"\\\\u0070rod_A9\\\\\\\/x+y=Zq7-Lw"#, "prod_A9%2Fx%2By%3DZq7-Lw",
        "prod_A9%2fx%2by%3dZq7-Lw", "%70rod_A9%2Fx%2By%3DZq7%2DLw", "prod_A9%252Fx%252By%253DZq7-Lw",
        "%2570%25%37%32od_A9%2Fx%2By%3DZq7-Lw", "prod_A9/x y=Zq7-Lw", "prod_A9%2Fx+y%3DZq7-Lw",
        "&#112;rod_A9&#x2F;x&#43;y&equals;Zq7-Lw", "prod_A9&amp;#47;x+y=Zq7-Lw", #"\x70rod_A9\057x+y=Zq7-Lw"#,
        #"\160rod_A9/x+y=Zq7-Lw"#, #"\u{70}rod_A9/x+y=Zq7-Lw"#, "%u0070rod_A9/x+y=Zq7-Lw",
        #"\u00257\u0030rod_A9/x+y=Zq7-Lw"#, "prod_A9/x+\n y=Zq7-Lw", "pr\u{0}od_A9/x\u{200B}+y=Zq7-Lw",
        Data(key.utf8).base64EncodedString(), Data(key.utf8).base64EncodedString().replacing("=", with: "%3D"),
        key.utf8.map { String($0, radix: 16) }.joined(),
    ])
    func credentialIsHiddenInAllForms(form: String) {
        let text = shown("bad key <\(form)>!")
        #expect(text.hasPrefix("bad key <") && text.hasSuffix(">!"), "\(text)")
        #expect(text.contains("***") && text.filter(\.isLetter).count <= "badkey".count + 7, "\(text)")
    }

    @Test(arguments: ["k", "ke", "key", "keys", "k/?>"])
    func shortCredentialIsHiddenInOtherForms(key: String) {
        let mask = SecretMask([key])
        let text = Data(key.utf8).base64EncodedString()
        for form in [
            text, text.replacing("=", with: ""), text.replacing("/", with: "_"),
            key.utf8.map { String($0, radix: 16) }.joined(),
        ] {
            let shown = String(decoding: mask.masked("<\(form)>".utf8), as: UTF8.self)
            #expect(shown.replacing("=", with: "") == "<***>")
        }
    }

    @Test(arguments: 0..<3, ["", "tail"])
    func credentialInsideBase64IsHidden(before: Int, after: String) {
        let text = "\(String(repeating: "u", count: before))\(Self.key)\(after)"
        let shown = shown("Basic \(Data(text.utf8).base64EncodedString())")
        #expect(shown.hasPrefix("Basic ") && shown.contains("***") && shown.count < 20, "\(shown)")
    }

    // A server can escape a key in several steps, each with a different escape for each character.
    @Test func credentialIsHiddenInMixedEscapes() {
        var generator = SeededGenerator(seed: 7)
        for _ in 1...400 {
            var text = Self.key
            for _ in 1...Int.random(in: 1...3, using: &generator) {
                text = text.unicodeScalars.map { escaped($0.value, &generator) }.joined()
            }
            #expect(shown("key: \(text)") == "key: ***", "\(text)")
        }
    }

    private func escaped(_ value: UInt32, _ generator: inout SeededGenerator) -> String {
        let hex = String(value, radix: 16, uppercase: Bool.random(using: &generator))
        let escapes = ["%\(hex)", "\\u00\(hex)", "\\x\(hex)", "&#\(value);", "&#x\(hex);"]
        // Most characters are not escaped, except for those that would be read as the start of an escape.
        let isPlain =
            !"%\\&".unicodeScalars.contains { $0.value == value } && Int.random(in: 0...9, using: &generator) < 7
        return isPlain ? String(UnicodeScalar(UInt8(value))) : escapes.randomElement(using: &generator) ?? ""
    }

    @Test func prefixOfCredentialIsHiddenInTruncatedText() {
        for length in 1...Self.key.count {
            let text = shown("the key: \(Self.key.prefix(length))", isTruncated: true)
            #expect(text == "the key: ***", "\(length)")
            let escaped = Self.key.utf8.prefix(length).map { "%\(String($0, radix: 16))" }.joined()
            for cut in 0...2 {
                let text = shown("the key: \(escaped.dropLast(cut))", isTruncated: true)
                #expect(text == "the key: ***" || length == 1 && cut > 0, "\(length) \(cut) \(text)")
            }
        }
    }

    @Test func partsOfCredentialAreHidden() {
        #expect(shown("key prod_A9/x… is unknown") == "key ***… is unknown")
        #expect(shown("key …+y=Zq7-Lw is unknown") == "key …+*** is unknown")
        #expect(shown("the key prod_A") == "the key ***")
    }

    @Test(arguments: [
        "", "the server is busy", #"{"error":{"message":"no such user \u00e9 100% \\o/ &c"}}"#, "%%%", "\\", "&#;",
        "%u",
    ])
    func otherTextIsUnchanged(text: String) { #expect(shown(text) == text) }

    @Test func deeplyNestedEscapesAreHidden() {
        #expect(shown("%\(String(repeating: "25", count: 60))70rod") == "***")
    }

    @Test func shortCredentialIsHiddenAsAWhole() {
        let mask = SecretMask(["k9"])
        #expect(mask.masked("the key K9 or %6b9".utf8) == Array("the key *** or ***".utf8))
        #expect(SecretMask.none.masked("k9".utf8) == Array("k9".utf8))
    }

    @Test func maskDoesNotPrintCredentials() {
        #expect(!"\(Self.mask) \(String(reflecting: Self.mask))".lowercased().contains("prod"))
        var dumped = ""
        dump(Self.mask, to: &dumped)
        #expect(!dumped.contains("112"))
    }
}
