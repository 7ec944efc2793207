import JSONText
import Testing

@testable import Telemetry

/// Tests the effect of rules on values.
///
/// In expected payloads, `<class:value>` is replaced by the pseudonym of the value.
@Suite struct PseudonymWriterTests {
    private static let key = [UInt8](repeating: 7, count: 32)

    /// Returns a string with pseudonyms in place of the values in angle brackets.
    private func expected(_ text: String) throws -> String {
        let key = try PseudonymKey(Self.key)
        return text.replacing(/<([a-z]+):([^>]*)>/) { match in
            String(decoding: key.pseudonym(of: Array(match.2.utf8), PseudonymClass(String(match.1))), as: UTF8.self)
        }
    }

    private func rewritten(
        _ text: String, _ table: PseudonymTable, timeUnit: TimeUnit? = nil
    ) throws -> (text: String, counts: PseudonymCounts) {
        var writer = PseudonymWriter(PseudonymMaker(try PseudonymKey(Self.key)), timeUnit: timeUnit)
        let bytes = writer.rewritten(Array(text.utf8), by: table)
        // The result is canonical.
        #expect(try JSONDocument(bytes).canonicalBytes(of: JSONDocument(bytes).root) == bytes)
        return (String(decoding: bytes, as: UTF8.self), writer.counts)
    }

    private static let engine = PseudonymClass("engine")
    /// The rules, the payload, the expected payload, and the numbers of dropped, malformed and unnamed values.
    private static let cases: [(PseudonymTable, String, String, [Int])] = [
        (["a": .keep(.number)], #"{"a":1.50,"b":2}"#, #"{"a":1.50}"#, [0, 0, 1]),
        (["a": .keep(.number)], #"{"a":"x"}"#, "{}", [0, 1, 0]),
        (["a": .keep(.number)], #"{"a":{"b":1}}"#, "{}", [0, 1, 0]),
        (
            ["a": .keep(.number), "c": .keep(.boolean)], #"{"a":null,"b":null,"c":true}"#, #"{"a":null,"c":true}"#,
            [0, 0, 1]
        ),
        (["a": .drop, "b": .keep(.word)], #"{"a":{"x":[1]},"b":"w"}"#, #"{"b":"w"}"#, [1, 0, 0]),
        (["a": .drop], #"{"a":null}"#, "{}", [1, 0, 0]),
        (["os": .keep(.word, else: .text("unknown"))], #"{"os":"a@b"}"#, #"{"os":"unknown"}"#, [0, 1, 0]),
        (["os": .keep(.word, else: .text("unknown"))], #"{"os":7}"#, "{}", [0, 1, 0]),
        (["e": .keep(.word, else: .pseudonym(.event))], #"{"e":"a b"}"#, #"{"e":"<event:a b>"}"#, [0, 0, 0]),
        (["c": .pseudonym(.client)], #"{"c":"x"}"#, #"{"c":"<client:x>"}"#, [0, 0, 0]),
        (["c": .pseudonym(.client)], #"{"c":"\u00e9\n"}"#, "{\"c\":\"<client:é\n>\"}", [0, 0, 0]),
        (["c": .pseudonym(.client)], #"{"c":5}"#, "{}", [0, 1, 0]),
        (["c": .pseudonym(.client)], #"{"c":""}"#, #"{"c":""}"#, [0, 0, 0]),
        (["o": .object(["a": .keep(.number)])], #"{"o":{"a":1,"b":2}}"#, #"{"o":{"a":1}}"#, [0, 0, 1]),
        (["o": .object(["a": .keep(.number)])], #"{"o":[1]}"#, "{}", [0, 1, 0]),
        (["l": .list(.keep(.number))], #"{"l":[1,"x",2,null,"y"]}"#, #"{"l":[1,2,null]}"#, [0, 2, 0]),
        (["l": .list(.drop)], #"{"l":[1,2]}"#, #"{"l":[]}"#, [2, 0, 0]),
        (["l": .list(.drop)], #"{"l":1}"#, "{}", [0, 1, 0]),
        (
            ["t": .tuple([.keep(.number), .keep(.word), .object(["k": .keep(.flag)])])],
            #"{"t":[1,"a b",{"k":"true","x":"y"},9]}"#, #"{"t":[1,null,{"k":"true"}]}"#, [0, 1, 2]
        ),
        (["t": .tuple([.keep(.number), .keep(.word), .drop])], #"{"t":[1,"a b","c"]}"#, #"{"t":[1]}"#, [1, 1, 0]),
        (["m": .map(.form(.word), .keep(.number))], #"{"m":{"a b":1,"b":2,"c":"x"}}"#, #"{"m":{"b":2}}"#, [0, 1, 1]),
        (
            ["s": .map(.dottedKey(["bar"], known: ["Known"], engine), .keep(.number))],
            #"{"s":{"bar.Anna":3,"bar.Known":1,"bar.é.é":"x","bar":9,"other.Known":2}}"#,
            #"{"s":{"bar.<engine:Anna>":3,"bar.Known":1}}"#, [0, 1, 2]
        ),
        (
            ["j": .json(.object(["a": .pseudonym(.user)]))], #"{"j":"{\"b\":1,\"a\":\"x\"}"}"#,
            #"{"j":"{\"a\":\"<user:x>\"}"}"#, [0, 0, 1]
        ),
        (["j": .json(.object([:]))], #"{"j":"no json"}"#, "{}", [0, 1, 0]),
        (["j": .json(.object([:]))], #"{"j":""}"#, #"{"j":""}"#, [0, 0, 0]),
        (["j": .json(.object([:]))], #"{"j":[]}"#, "{}", [0, 1, 0]),
        ([:], #"{"a":1,"b":{"c":2}}"#, "{}", [0, 0, 2]),
        (["a": .keep(.number)], "[1]", "{}", [0, 1, 0]),
        (["a": .keep(.number)], "not json", "{}", [0, 1, 0]),
    ]

    @Test("Rules are applied to values, and omitted values are counted.", arguments: cases.indices)
    func rule(index: Int) throws {
        let (table, payload, result, counts) = Self.cases[index]
        let (text, counted) = try rewritten(payload, table)
        #expect(text == (try expected(result)))
        #expect([counted.dropped, counted.malformed, counted.unnamed] == counts)
    }

    /// The rule, the value, and the expected payload without rounding and with rounding to hours.
    private static let times: [(PseudonymRule, String, String, String)] = [
        (.time(.text), #""2018-05-24T12:34Z""#, #"{"a":"2018-05-24T12:34Z"}"#, #"{"a":"2018-05-24T12:00Z"}"#),
        (.time(.text), #""2018-05-24T123456Z""#, "{}", "{}"),
        (.time(.text, else: .text("unknown")), #""2018-02-30""#, #"{"a":"unknown"}"#, #"{"a":"unknown"}"#),
        (.time(.text, else: .text("unknown")), #""at home""#, #"{"a":"unknown"}"#, #"{"a":"unknown"}"#),
        (.time(.text), "1527163208377", "{}", "{}"), (.time(.text), #""""#, #"{"a":""}"#, #"{"a":""}"#),
        (.time(.milliseconds), "1527163208377", #"{"a":1527163208377}"#, #"{"a":1527163200000}"#),
        (.time(.milliseconds), #""1527163208377""#, "{}", "{}"),
        (.time(.milliseconds), "null", #"{"a":null}"#, #"{"a":null}"#),
        (.time(.secondsText), #""7261.50""#, #"{"a":"7261.50"}"#, #"{"a":"7200.00"}"#),
        (
            .json(.object(["b": .time(.milliseconds)])), #""{\"b\":3600001}""#, #"{"a":"{\"b\":3600001}"}"#,
            #"{"a":"{\"b\":3600000}"}"#
        ),
        (
            .list(.tuple([.time(.milliseconds), .keep(.word)])), #"[[3600001,"w"]]"#, #"{"a":[[3600001,"w"]]}"#,
            #"{"a":[[3600000,"w"]]}"#
        ),
    ]

    @Test("Times are kept or rounded.", arguments: times.indices)
    func time(index: Int) throws {
        let (rule, value, kept, rounded) = Self.times[index]
        #expect(try rewritten(#"{"a":\#(value)}"#, ["a": rule]).text == kept)
        #expect(try rewritten(#"{"a":\#(value)}"#, ["a": rule], timeUnit: .hour).text == rounded)
    }

    @Test("If two ids differ only in letter case, the second is omitted and counted.")
    func sameKey() throws {
        let table: PseudonymTable = ["s": .map(.dottedKey(["bar"], known: [], Self.engine), .keep(.number))]
        let id = "BF95FB51-DED1-463B-9A9E-043C9D711517"
        let (text, counts) = try rewritten(#"{"s":{"bar.\#(id)":1,"bar.\#(id.lowercased())":2}}"#, table)
        #expect(text == (try expected(#"{"s":{"bar.<engine:\#(id)>":1}}"#)))
        #expect(counts.malformed == 1)
    }

    @Test("A deep payload is read only as deep as the rules.")
    func depth() throws {
        let deep = String(repeating: #"{"a":"#, count: 500) + "1" + String(repeating: "}", count: 500)
        let (text, counts) = try rewritten(deep, ["a": .object(["a": .keep(.number)])])
        #expect(text == #"{"a":{}}"#)
        #expect(counts.malformed == 1)
    }
}
