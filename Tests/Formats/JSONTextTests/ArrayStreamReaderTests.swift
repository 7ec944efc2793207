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

    @Test(
        "Reading continues after an invalid element",
        arguments: [
            ("NaN", 0), (#"{"a":NaN}"#, 5), (#"{"a":{"b":["]\"}",&]}}"#, 18), ("{]}", 1), ("[1:]", 2), ("--x", 2),
            (#"{"a" 1,"b":"]"}"#, 5),
        ])
    func continuesAfterInvalidElement(element: String, fault: Int) throws {
        let start = #"{"log":{"entries":[1, "#.utf8.count
        let text = Array((#"{"log":{"entries":[1, "# + element + #" ,{"a":2}],"version":3}}"#).utf8)
        for pieceSize in [1, 3, 100] {
            var reader = JSONArrayStreamReader(
                path: ["log", "entries"], neighbors: ["version"], outline: .whole, limit: 100)
            var found: [String] = []
            for place in stride(from: 0, to: text.count, by: pieceSize) {
                let piece = Array(text[place..<min(place + pieceSize, text.count)])
                var index = 0
                while index < piece.count {
                    do throws(JSONError) {
                        guard try reader.next(in: piece.span, from: &index) != nil else { continue }
                        if let error = reader.elementError {
                            #expect(error == JSONError(.unexpectedByte, at: start + fault))
                            found.append(String(decoding: text[reader.range], as: UTF8.self))
                        } else {
                            found.append(String(decoding: reader.text, as: UTF8.self))
                        }
                    } catch {
                        let canContinue = reader.skipElement(after: error)
                        try #require(canContinue)
                    }
                }
            }
            try #require(found.count == 4)
            #expect(found[1].hasPrefix(element.prefix(1)))
            #expect(found[2] == #"{"a":2}"# && found[3] == "3")
            #expect(reader.isComplete)
        }
    }

    @Test("The outermost value can be the array")
    func readsOutermostArray() throws {
        var reader = JSONArrayStreamReader(path: [], outline: Self.outline, limit: 100)
        let text = Array(#" [{"a":1,"x":2}, {"a":2}]"#.utf8)
        var index = 0
        for expected in [#"{"a":1}"#, #"{"a":2}"#] {
            #expect(try reader.next(in: text.span, from: &index) == .element)
            #expect(String(decoding: reader.text, as: UTF8.self) == expected)
        }
        #expect(try reader.next(in: text.span, from: &index) == nil)
        #expect(reader.isComplete)
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
