import Foundation
import JSONText
import TestSupport
import Testing

/// Compares the reader and the writer with Python's `json` on random texts, including malformed ones.
@Suite struct PythonOracleTests {
    private static let policies: [JSONReadingPolicy] = [.strict, .lastWins, .keepingSurrogates, .lenient]

    @Test func readsSameTextsAndValuesAsPython() throws {
        var random = SeededGenerator(seed: 2026)
        var texts = Self.seeds
        for _ in 0..<300 {
            texts.append(Array(ModelValue.random(4, using: &random).unformatted(using: &random).utf8))
        }
        for _ in 0..<1200 {
            texts.append(Self.mutated(random.pick(texts), using: &random))
        }
        let expectations = try Self.pythonOutcomes(texts)
        try #require(expectations.count == texts.count)
        var accepted = 0
        for (text, answer) in zip(texts, expectations) {
            let ours = Self.policies.map { policy in
                switch Outcome(reading: text, policy: policy) {
                case .value(let canonical): Self.hex(canonical)
                case .fault: "refused"
                }
            }
            #expect(ours == answer, "\(String(decoding: text, as: UTF8.self).debugDescription)")
            if ours[0] != "refused" { accepted += 1 }
        }
        // The comparison needs a minimum number of both valid and malformed texts.
        #expect(accepted > 300)
        #expect(texts.count - accepted > 300)
    }

    private static let seeds: [[UInt8]] = [
        #"{"a":1,"a":2,"a":{"b":1,"b":"\ud800"}}"#, #"["\ud800\udc00","\ud800\ud800\udc00","\udc00\ud800"]"#,
        #"{"\ud800":1,"\uD800":2,"\ue000":3,"😀":4}"#, "[NaN,Infinity,-Infinity]", "NaN", "-Infinity",
        "[1,-0,0.0,1e5,1E+5,123456789012345678901234567890]", #"{"a":"\u0000\b\t\n\f\r\u001f\u007f\/"}"#,
        #"{"a":"\ud800","a":1}"#, "\u{FEFF}[]", "[\"\u{2028}\u{85}\"]", "[\u{A0}1]", "[1,\u{B}2]",
        "\"\u{7F}\"",
    ].map { Array($0.utf8) }

    private static func mutated(_ text: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
        let pieces =
            [
                "\"", "\\", "\\u", "\\ud800", "\\udc00", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e",
                "E+", "1",
                " ", "\n", "\t", "true", "null", "NaN", "\"a\":1,", "\u{1}", "é", "\u{7F}",
            ].map { Array($0.utf8) } + [
                [0xFF], [0xC3], [0xA9], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            ]
        var text = text
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let start = Int.random(in: 0...text.count, using: &random)
            let length = random.chance(50) ? 0 : Int.random(in: 0...4, using: &random)
            let range = start..<min(start + length, text.count)
            let isDeletion = random.chance(25)
            text.replaceSubrange(range, with: isDeletion ? [] : random.pick(pieces))
        }
        return text
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
    }

    /// Returns Python's result for each text and policy: the canonical form in hexadecimal, or `refused`.
    private static func pythonOutcomes(_ texts: [[UInt8]]) throws -> [[String]] {
        let lines = texts.map(hex).joined(separator: "\n")
        let answer = String(decoding: try tool(["python3", "-c", script], input: Array(lines.utf8)), as: UTF8.self)
        return answer.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    }

    private static let script = #"""
        import json, re, sys

        class Number(str):
            pass

        def refuse(text):
            raise ValueError(text)

        def check_pairing(value):
            if isinstance(value, str):
                value.encode("utf-8")
            elif isinstance(value, list):
                for element in value: check_pairing(element)
            elif isinstance(value, dict):
                for key, element in value.items(): check_pairing(key); check_pairing(element)

        def canonical(value):
            if isinstance(value, Number):
                return str(value)
            if isinstance(value, list):
                return "[" + ",".join(map(canonical, value)) + "]"
            if isinstance(value, dict):
                return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in sorted(value)) + "}"
            text = json.dumps(value, ensure_ascii=False)
            return re.sub("[\ud800-\udfff]", lambda half: "\\u%04x" % ord(half[0]), text)

        def answer(source, last_wins, keeps_surrogates):
            def members(pairs):
                if not keeps_surrogates: check_pairing([part for pair in pairs for part in pair])
                if not last_wins and len(dict(pairs)) < len(pairs): refuse("duplicate")
                return dict(pairs)
            try:
                value = json.loads(source.decode("utf-8"), strict=True, parse_int=Number, parse_float=Number,
                                   parse_constant=refuse, object_pairs_hook=members)
                if not keeps_surrogates: check_pairing(value)
                return canonical(value).encode("utf-8").hex()
            except ValueError:
                return "refused"

        for line in sys.stdin:
            source = bytes.fromhex(line)
            print(*(answer(source, *policy) for policy in
                    [(False, False), (True, False), (False, True), (True, True)]))
        """#
}
