import TestSupport
import Testing

@testable import JSONText

/// Tests that a reused document has the same order of members and throws the same errors as a new document.
@Suite struct DocumentReuseTests {
    @Test(
        "An object with the keys of an earlier object is written in canonical order",
        arguments: [
            [#"{"c":1,"a":2,"b":3}"#, #"{"c":4,"a":5,"b":6}"#],
            // The first keys are the same, but in another order or followed by one more key.
            [#"{"c":1,"a":2,"b":3}"#, #"{"a":1,"c":2,"b":3}"#, #"{"c":1,"a":2,"b":3,"d":4}"#],
            // The keys differ only after the first eight bytes.
            [#"{"z":0,"abcdefgh2":1,"abcdefgh1":2}"#, #"{"z":0,"abcdefgh1":1,"abcdefgh2":2}"#],
            // One key is the first eight bytes of the other.
            [#"{"z":0,"y":1,"abcdefgh":2}"#, #"{"z":0,"y":1,"abcdefghi":2}"#],
            // A NUL distinguishes keys, although short keys are padded with it.
            [#"{"z":0,"y":1,"a":2}"#, #"{"z":0,"y":1,"a\u0000":2}"#],
            // Objects are nested.
            [#"{"z":{"c":1,"b":2,"a":3},"y":[],"x":{"c":1,"b":2,"a":3}}"#, #"{"z":{"c":1,"b":2,"a":3},"y":1,"x":2}"#],
        ])
    func writesCanonicalOrder(texts: [String]) throws {
        var document = JSONDocument()
        for text in texts + texts {
            try document.read(Array(text.utf8))
            let alone = try JSONDocument(Array(text.utf8))
            #expect(document.canonicalBytes(of: document.root) == alone.canonicalBytes(of: alone.root))
        }
    }

    @Test("The error for a large object does not depend on earlier texts")
    func reportsSameErrorForLargeObjects() throws {
        func members(_ count: Int) -> String { (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",") }
        // The object repeats a key and has no end.
        let text = Array("{\"k7\":1,\(members(8200))".utf8)
        let alone = #expect(throws: JSONError.self) { _ = try JSONDocument(text) }
        var document = JSONDocument()
        for count in [1, 5000, 9000, 20_000] {
            try document.read(Array("{\(members(count))}".utf8))
            let fault = #expect(throws: JSONError.self) { try document.read(text) }
            #expect(fault == alone)
        }
        #expect(alone?.code == .duplicateKey)
    }

    @Test("A repeated key is found among keys of an earlier text")
    func findsRepeatedKey() throws {
        var document = JSONDocument()
        try document.read(Array(#"{"c":1,"a":2,"b":3}"#.utf8))
        #expect(throws: JSONError(.duplicateKey, at: 13)) { try document.read(Array(#"{"c":1,"a":2,"a":3}"#.utf8)) }
        try document.read(Array(#"{"c":1,"a":2,"b":3}"#.utf8))
        #expect(document.canonicalBytes(of: document.root) == Array(#"{"a":2,"b":3,"c":1}"#.utf8))
    }

    @Test("Many different orders of keys are written in canonical order")
    func writesManyOrders() throws {
        var (document, random) = (JSONDocument(), SeededGenerator(seed: 7))
        for _ in 0..<400 {
            let count = Int.random(in: 0..<30, using: &random)
            let keys = (0..<count).map { "\(Int.random(in: 0..<4, using: &random))k\($0)" }
            try document.read(Self.object(keys))
            let sorted = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            #expect(document.canonicalBytes(of: document.root) == Self.object(sorted))
        }
    }

    private static func object(_ keys: [String]) -> [UInt8] {
        Array("{\(keys.map { "\"\($0)\":1" }.joined(separator: ","))}".utf8)
    }
}
