import JSONText
import Telemetry
import TestSupport
import Testing

@Suite struct PayloadCheckTests {
    private static let fields: PayloadFields = [
        .required("id", .string(.uuid), .pseudonym(.client), "an id"),
        .optional("count", .integer(atLeast: 0), .keep(.number), "a count"),
        .optional("inner", fields: [.required("name", .string(.atMost(3)), .drop, "a name")], "an object"),
        .optional("list", .list(.string()), .list(.drop), "a list"),
        .optional("map", .map(.atMost(2, "a label"), .orNull(.boolean)), .drop, "a map"),
        .optional("open", .open([.optional("share", .number(.share), .keep(.number), "a share")]), .drop, "an object"),
        .optional("version", .version(1...3), .keep(.number), "a version"),
        .added("extra", .string(), .drop, "a field that apps add"),
    ]
    private static let id = #""id":"C0FFEE00-1111-2222-3333-444455556666""#

    private func check(_ members: String, _ wording: PayloadCheck.Wording, root: String = "") throws -> PayloadCheck {
        let document = try JSONDocument(Array("{\(members)}".utf8))
        var check = PayloadCheck(document, wording, root: root)
        check.check(document.root, .object(Self.fields))
        return check
    }

    @Test(
        arguments: [
            (#""count":0,"inner":{"name":"abc"},"list":["a"],"map":{"k":null,"l":true},"version":3"#, [], []),
            (#""extra":1,"open":{"share":0.5,"more":[]}"#, [], []),
            (#""count":-1"#, ["count: less than 0"], ["count is less than 0"]),
            (#""count":1.0"#, ["count: no integer"], ["count is no integer"]),
            (#""inner":{}"#, ["inner.name missing"], ["inner.name missing"]),
            (
                #""inner":{"name":"abcd"}"#, ["inner.name: more than 3 characters"],
                ["inner.name is more than 3 characters"]
            ),
            (#""inner":[]"#, ["inner: no object"], ["inner is no object"]),
            (#""list":{}"#, ["list: no array"], ["list is no array"]),
            (
                #""list":["a",1,2]"#, ["list[1]: no string", "list[2]: no string"],
                ["list has an item that is no string"]
            ),
            (
                #""map":{"a":1,"b":2}"#, ["map.a: no boolean", "map.b: no boolean"],
                ["map has a value that is no boolean"]
            ),
            (#""map":{"abc":true}"#, ["map.abc: not the name of a label"], ["map.abc is not the name of a label"]),
            (#""open":{"share":2}"#, ["open.share: no number from 0 to 1"], ["open.share is no number from 0 to 1"]),
            (#""version":4"#, ["version: no known version"], ["version is no known version"]),
        ] as [(String, [String], [String])])
    func faults(members: String, terse: [String], sentences: [String]) throws {
        #expect(try check("\(Self.id),\(members)", .terse).findings.faults == terse)
        #expect(try check("\(Self.id),\(members)", .sentence).findings.faults == sentences)
    }

    @Test func pathStartsWithPathOfObject() throws {
        #expect(try check("", .terse, root: "data[2]").findings.faults == ["data[2].id missing"])
        #expect(try check(#""id":1"#, .sentence, root: "data[2]").findings.faults == ["data[2].id is no UUID"])
    }

    @Test func unknownKeysAreCountedAndTheFirstAreNamed() throws {
        let keys = (10..<30).map { #""x\#($0)":0"# }.joined(separator: ",")
        let checked = try check("\(Self.id),\"extra\":0,\(keys)", .terse)
        #expect(checked.unknownCount == 21)
        #expect(checked.unknownKeys == ["extra"] + (10..<17).map { "x\($0)" })
    }

    @Test func checkStopsAfterManyFaults() throws {
        let list = Array(repeating: "0", count: 1000).joined(separator: ",")
        #expect(try check("\(Self.id),\"list\":[\(list)]", .terse).findings.faults.count == 8)
    }

    @Test(arguments: [PayloadCheck.Wording.terse, .sentence])
    func onlyTheFirstInvalidKeysOfMapAreKept(wording: PayloadCheck.Wording) throws {
        let map = (1000..<2000).map { #""\#($0)":0"# }.joined(separator: ",")
        let faults = try check("\(Self.id),\"map\":{\(map)}", wording).findings.faults
        #expect(faults.count == 8)
        #expect(faults.last?.hasPrefix("map.1007") == true)
    }

    @Test func pseudonymRulesAreThoseOfTheFields() throws {
        let rule = try #require(Self.fields.pseudonyms["inner"])
        guard case .object(let inner) = rule, case .drop? = inner["name"] else {
            Issue.record("\(rule)")
            return
        }
        #expect(Self.fields.pseudonyms.fields.count == Self.fields.sorted.count)
    }
}
