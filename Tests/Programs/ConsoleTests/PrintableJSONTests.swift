import Bytes
import Foundation
import TestSupport
import Testing

@testable import Console

/// Tests of JSON with unprintable characters escaped.
@Suite struct PrintableJSONTests {
    private func shown(_ json: String) -> String {
        String(decoding: PrintableJSON.rewriting(Array(json.utf8)), as: UTF8.self)
    }

    @Test(
        "Unprintable characters are escaped in the syntax of JSON",
        arguments: [
            ("{}", "{}"), ("{\"a\":\"b\"}\n", "{\"a\":\"b\"}\n"), ("\"\u{7F}\u{9B}31m\"", #""\u007f\u009b31m""#),
            ("\"\u{202E}x\u{2028}\"", #""\u202ex\u2028""#), ("\"\u{E0041}\"", #""\udb40\udc41""#),
            ("\"東京 ö 👍\"", "\"東京 ö 👍\""),
        ])
    func unseen(json: String, shown: String) { #expect(self.shown(json) == shown) }

    @Test("The value does not change")
    func sameValue() throws {
        let json = "{\"a\u{202E}\":[\"\u{7F}\u{200B}\u{E0041}\u{FEFF}x\", 1.50, true], \"b\":\"\\u001b\u{AD}\"}"
        let (before, after) = (Data(json.utf8), Data(shown(json).utf8))
        let value = try #require(try JSONSerialization.jsonObject(with: before) as? NSDictionary)
        let written = try JSONSerialization.jsonObject(with: after) as? NSDictionary
        #expect(written == value)
        #expect(!shown(json).unicodeScalars.contains { $0.isInvisible })
    }

    @Test("The text can be passed in pieces that end at any byte", arguments: 0..<50)
    func pieces(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let characters = ["a", "\"", "\u{9B}", "é", "\u{202E}", "東", "👍", "\u{E0041}", "\n"]
        let text = (0..<40).map { _ in characters.randomElement(using: &generator) ?? "" }.joined()
        let bytes = Array(text.utf8)
        var rewriter = PrintableJSON()
        var output: [UInt8] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...5, using: &generator))
            rewriter.rewrite(Array(bytes[start..<end]).span, to: &output)
            start = end
        }
        #expect(output == PrintableJSON.rewriting(bytes))
        #expect(!String(decoding: output, as: UTF8.self).unicodeScalars.contains { $0.isInvisible && $0 != "\n" })
    }

    @Test("Invalid bytes become a replacement character without affecting other bytes")
    func invalidBytes() {
        let bytes: [UInt8] = [0x22, 0xFF, 0x41, 0xE6, 0x9D, 0x42, 0xC2, 0x22, 0x80, 0x22]
        let text = String(decoding: PrintableJSON.rewriting(bytes), as: UTF8.self)
        #expect(text.filter { $0 != "\u{FFFD}" } == "\"AB\"\"")
        #expect(text.contains("\u{FFFD}"))
    }
}
