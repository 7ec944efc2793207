import JSONText
import Testing

/// What was taken out of a text.
private struct Skimmed: Equatable {
    var texts: [String] = []
    var ranges: [Range<Int>] = []
    var neighbors: [String] = []
    var tooLong = 0
    var fault: JSONError?
    var isComplete = false
    var progress = 0

    init(_ text: [UInt8], outline: JSONOutline, pieceSize: Int, limit: Int = 1 << 20, depthLimit: Int = 512) {
        var skimmer = JSONSkimmer(
            path: ["log", "entries"], neighbors: ["version"], outline: outline, limit: limit, depthLimit: depthLimit)
        do throws(JSONError) {
            for start in stride(from: 0, to: text.count, by: pieceSize) {
                let piece = Array(text[start..<min(start + pieceSize, text.count)])
                var index = 0
                while let finding = try skimmer.next(in: piece.span, from: &index) {
                    take(finding, skimmer)
                }
            }
        } catch {
            fault = error
        }
        isComplete = skimmer.isComplete
        progress = skimmer.progress
    }

    private mutating func take(_ finding: JSONSkimmer.Finding, _ skimmer: JSONSkimmer) {
        let text = String(decoding: skimmer.text, as: UTF8.self)
        switch finding {
        case .neighbor: neighbors.append(text)
        case .element where skimmer.isTooLong: tooLong += 1
        case .element:
            texts.append(text)
            ranges.append(skimmer.range)
        }
    }
}

@Suite struct SkimmerTests {
    private static let outline: JSONOutline = ["a": .whole, "b": ["c": .whole]]

    /// What stands in the array, and what is taken out of it.
    private static let rows: [(String, [String])] = [
        ("", []),
        (" ", []),
        (#"{"a":1,"x":2}"#, [#"{"a":1}"#]),
        (#"{"x":{"a":1},"a":[1, {"a" : "]}"}]}"#, [#"{"a":[1,{"a":"]}"}]}"#]),
        (#"{"b":{"c":null,"a":0},"a":"\"\\"} , {}"#, [#"{"b":{"c":null},"a":"\"\\"}"#, "{}"]),
        (#"{"b":7},{"b":"c"},{"b":["c"]}"#, [#"{"b":null}"#, #"{"b":null}"#, #"{"b":null}"#]),
        (#"1,"a",[{"a":1}],null,true,-2.5e+7"#, ["null", "null", "null", "null", "null", "null"]),
        (#"{"\u0061":1,"\q":2}"#, [#"{"a":1}"#]),
        (#"{"a":1,"a":2}"#, [#"{"a":1,"a":2}"#]),
        (#"{"a":"\ud83d\udc8b é"}"#, [#"{"a":"\ud83d\udc8b é"}"#]),
    ]

    @Test("the wanted members are taken out, whatever the pieces are", arguments: rows)
    func members(inside: String, expected: [String]) {
        let text = Array((#"{"x":[1],"log" : {"version":"1.2","entries":["# + inside + #"],"z":{}},"y":0} "#).utf8)
        for pieceSize in [1, 2, 3, 7, 64, text.count] {
            let skimmed = Skimmed(text, outline: Self.outline, pieceSize: pieceSize)
            #expect(skimmed.texts == expected)
            #expect(skimmed.neighbors == [#""1.2""#])
            #expect(skimmed.fault == nil)
            #expect(skimmed.isComplete)
            #expect(skimmed.progress == 2)
        }
    }

    @Test("an element stands where it says")
    func ranges() {
        let text = #"{"log":{"entries":[ {"a":[]} , "x",{"z":"}"} ]}}"#
        let skimmed = Skimmed(Array(text.utf8), outline: .whole, pieceSize: 5)
        let places = skimmed.ranges.map { range in
            String(decoding: Array(text.utf8)[range], as: UTF8.self)
        }
        #expect(places == [#"{"a":[]}"#, #""x""#, #"{"z":"}"}"#])
        #expect(skimmed.texts == places)
    }

    /// Texts without the array, and how far on the way to it they come.
    @Test(
        "what is not there is not found",
        arguments: [
            ("{}", 0), ("[]", 0), ("7", 0), (#"{"log":[]}"#, 0), (#"{"log":{}}"#, 1), (#"{"log":{"entries":{}}}"#, 1),
            (#"{"entries":[{}]}"#, 0), (#"{"x":{"log":{"entries":[{}]}}}"#, 0),
        ])
    func absent(text: String, progress: Int) {
        let skimmed = Skimmed(Array(text.utf8), outline: .whole, pieceSize: 4)
        #expect(skimmed.texts.isEmpty)
        #expect(skimmed.fault == nil)
        #expect(skimmed.progress == progress)
    }

    @Test(
        "broken brackets are told with their place",
        arguments: [
            (#"{"log":{"entries":[{]}}"#, JSONError(.unexpectedByte, at: 20)),
            (#"{"log":{"entries":[1 2]}}"#, JSONError(.unexpectedByte, at: 21)),
            (#"{"log":{"entries":[,]}}"#, JSONError(.unexpectedByte, at: 19)),
            (#"{"log":{"entries":[]}}}"#, JSONError(.trailingBytes, at: 22)),
            (#"{"log" "x"}"#, JSONError(.unexpectedByte, at: 7)),
            (#"{"log":&}"#, JSONError(.unexpectedByte, at: 7)),
        ])
    func faults(text: String, fault: JSONError) {
        for pieceSize in [1, 100] {
            #expect(Skimmed(Array(text.utf8), outline: .whole, pieceSize: pieceSize).fault == fault)
        }
    }

    @Test("what is cut short is not complete, and gives what came before")
    func cut() {
        let skimmed = Skimmed(Array(#"{"log":{"entries":[{"a":1},{"a":"#.utf8), outline: Self.outline, pieceSize: 6)
        #expect(skimmed.texts == [#"{"a":1}"#])
        #expect(!skimmed.isComplete)
        #expect(skimmed.fault == nil)
    }

    @Test("an element beyond the limit is left out, not what is unwanted of it")
    func limit() {
        let long = String(repeating: "x", count: 200)
        let text = #"{"log":{"entries":[{"a":"\#(long)"},{"z":"\#(long)","a":1},{"a":2}]}}"#
        for pieceSize in [1, 50, 1000] {
            let skimmed = Skimmed(Array(text.utf8), outline: Self.outline, pieceSize: pieceSize, limit: 100)
            #expect(skimmed.tooLong == 1)
            #expect(skimmed.texts == [#"{"a":1}"#, #"{"a":2}"#])
        }
    }

    @Test("depth is limited")
    func depth() {
        let deep = #"{"log":{"entries":["# + String(repeating: "[", count: 20)
        #expect(
            Skimmed(Array(deep.utf8), outline: .whole, pieceSize: 9, depthLimit: 10).fault
                == JSONError(.tooDeep, at: 26))
    }
}
