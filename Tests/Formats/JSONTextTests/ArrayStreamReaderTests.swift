import JSONText
import Testing

/// The result of extracting elements from a text.
private struct Extraction: Equatable {
    var texts: [String] = []
    var ranges: [Range<Int>] = []
    var neighbors: [String] = []
    var tooLong = 0
    var fault: JSONError?
    var isComplete = false
    var progress = 0

    init(_ text: [UInt8], outline: JSONOutline, pieceSize: Int, limit: Int = 1 << 20, depthLimit: Int = 512) {
        var reader = JSONArrayStreamReader(
            path: ["log", "entries"], neighbors: ["version"], outline: outline, limit: limit, depthLimit: depthLimit)
        do throws(JSONError) {
            for start in stride(from: 0, to: text.count, by: pieceSize) {
                let piece = Array(text[start..<min(start + pieceSize, text.count)])
                var index = 0
                while let finding = try reader.next(in: piece.span, from: &index) {
                    add(finding, reader)
                }
            }
        } catch {
            fault = error
        }
        isComplete = reader.isComplete
        progress = reader.progress
    }

    private mutating func add(_ finding: JSONArrayStreamReader.Finding, _ reader: JSONArrayStreamReader) {
        let text = String(decoding: reader.text, as: UTF8.self)
        switch finding {
        case .neighbor: neighbors.append(text)
        case .element where reader.isTooLong: tooLong += 1
        case .element:
            texts.append(text)
            ranges.append(reader.range)
        }
    }
}

@Suite struct SkimmerTests {
    private static let outline: JSONOutline = ["a": .whole, "b": ["c": .whole]]

    /// The contents of the array, and the expected extracted elements.
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

    @Test("The selected members are extracted regardless of how the text is split", arguments: rows)
    func extractsSelectedMembers(inside: String, expected: [String]) {
        let text = Array((#"{"x":[1],"log" : {"version":"1.2","entries":["# + inside + #"],"z":{}},"y":0} "#).utf8)
        for pieceSize in [1, 2, 3, 7, 64, text.count] {
            let extraction = Extraction(text, outline: Self.outline, pieceSize: pieceSize)
            #expect(extraction.texts == expected)
            #expect(extraction.neighbors == [#""1.2""#])
            #expect(extraction.fault == nil)
            #expect(extraction.isComplete)
            #expect(extraction.progress == 2)
        }
    }

    @Test("The range of an element is its range in the text")
    func returnsRanges() {
        let text = #"{"log":{"entries":[ {"a":[]} , "x",{"z":"}"} ]}}"#
        let extraction = Extraction(Array(text.utf8), outline: .whole, pieceSize: 5)
        let elements = extraction.ranges.map { range in
            String(decoding: Array(text.utf8)[range], as: UTF8.self)
        }
        #expect(elements == [#"{"a":[]}"#, #""x""#, #"{"z":"}"}"#])
        #expect(extraction.texts == elements)
    }

    /// Texts without the array, and the number of keys of the path that they contain.
    @Test(
        "A text without the array yields no elements",
        arguments: [
            ("{}", 0), ("[]", 0), ("7", 0), (#"{"log":[]}"#, 0), (#"{"log":{}}"#, 1), (#"{"log":{"entries":{}}}"#, 1),
            (#"{"entries":[{}]}"#, 0), (#"{"x":{"log":{"entries":[{}]}}}"#, 0),
        ])
    func findsNoArray(text: String, progress: Int) {
        let extraction = Extraction(Array(text.utf8), outline: .whole, pieceSize: 4)
        #expect(extraction.texts.isEmpty)
        #expect(extraction.fault == nil)
        #expect(extraction.progress == progress)
    }

    @Test(
        "Structural errors are reported with their offset",
        arguments: [
            (#"{"log":{"entries":[{]}}"#, JSONError(.unexpectedByte, at: 20)),
            (#"{"log":{"entries":[1 2]}}"#, JSONError(.unexpectedByte, at: 21)),
            (#"{"log":{"entries":[,]}}"#, JSONError(.unexpectedByte, at: 19)),
            (#"{"log":{"entries":[]}}}"#, JSONError(.trailingBytes, at: 22)),
            (#"{"log" "x"}"#, JSONError(.unexpectedByte, at: 7)),
            (#"{"log":&}"#, JSONError(.unexpectedByte, at: 7)),
        ])
    func reportsStructuralErrors(text: String, fault: JSONError) {
        for pieceSize in [1, 100] {
            #expect(Extraction(Array(text.utf8), outline: .whole, pieceSize: pieceSize).fault == fault)
        }
    }

    @Test("A truncated text yields its complete elements")
    func readsTruncatedText() {
        let extraction = Extraction(
            Array(#"{"log":{"entries":[{"a":1},{"a":"#.utf8), outline: Self.outline, pieceSize: 6)
        #expect(extraction.texts == [#"{"a":1}"#])
        #expect(!extraction.isComplete)
        #expect(extraction.fault == nil)
    }

    @Test("The limit applies to the extracted parts of an element")
    func limitsExtractedLength() {
        let long = String(repeating: "x", count: 200)
        let text = #"{"log":{"entries":[{"a":"\#(long)"},{"z":"\#(long)","a":1},{"a":2}]}}"#
        for pieceSize in [1, 50, 1000] {
            let extraction = Extraction(Array(text.utf8), outline: Self.outline, pieceSize: pieceSize, limit: 100)
            #expect(extraction.tooLong == 1)
            #expect(extraction.texts == [#"{"a":1}"#, #"{"a":2}"#])
        }
    }

    @Test("The depth is limited")
    func limitsDepth() {
        let deep = #"{"log":{"entries":["# + String(repeating: "[", count: 20)
        #expect(
            Extraction(Array(deep.utf8), outline: .whole, pieceSize: 9, depthLimit: 10).fault
                == JSONError(.tooDeep, at: 26))
    }
}
