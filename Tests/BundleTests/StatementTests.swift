import Hashing
import JSONText
import TestSupport
import Testing

@testable import Bundle

/// Tests of the bytes of statements whose arrays are produced while they are written.
@Suite struct StatementTests {
    private let abc = ContentHash(of: Array("abc".utf8))

    private func predicate(_ members: [String]) -> CanonicalObject {
        var object = CanonicalObject()
        for member in members { object.set(JSONKey(member), 1) }
        return object
    }

    private func element(_ number: Int) -> CanonicalObject {
        ["n": number]
    }

    @Test(
        "An array is inserted into the predicate in the order of the keys",
        arguments: [
            (["a", "z"], #"{"a":1,"list":[{"n":0},{"n":1}],"z":1}"#), (["a"], #"{"a":1,"list":[{"n":0},{"n":1}]}"#),
            (["z"], #"{"list":[{"n":0},{"n":1}],"z":1}"#), ([], #"{"list":[{"n":0},{"n":1}]}"#),
        ])
    func order(members: [String], expected: String) throws {
        let statement = Statement(
            predicateType: "t:t", predicate: predicate(members),
            arrays: [("list", { add in for number in 0..<2 { try add(element(number)) } })],
            subjects: [Receipt.File(name: "f", sha256: abc)])
        #expect(
            try statement.text()
                == #"{"_type":"https://in-toto.io/Statement/v1","predicate":\#(expected),"predicateType":"t:t","#
                + #""subject":[{"digest":{"sha256":"\#(abc.hex)"},"name":"f"}]}"# + "\n")
    }

    @Test("A long array is written in pieces")
    func pieces() throws {
        let statement = Statement(
            predicateType: "t:t", predicate: predicate(["a"]),
            arrays: [("list", { add in for number in 0..<20_000 { try add(element(number)) } })], subjects: [])
        var sizes: [Int] = []
        try statement.write { sizes.append($0.count) }
        #expect(sizes.count > 3)
        #expect(sizes.allSatisfy { $0 < 80 << 10 })
        let list = (0..<20_000).map { #"{"n":\#($0)}"# }.joined(separator: ",")
        #expect(try statement.text().contains(#"{"a":1,"list":[\#(list)]},"predicateType""#))
        #expect(!statement.hasSubject)
    }
}
