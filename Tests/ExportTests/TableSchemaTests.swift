import JSONText
import LiveTables
import Testing

@testable import Export

@Suite struct TableSchemaTests {
    private static func nested(_ depth: Int) -> String {
        let start = String(repeating: #"[{"name":"a","type":"RECORD","fields":"#, count: depth)
        return start + #"[{"name":"a","type":"STRING"}]"# + String(repeating: "}]", count: depth)
    }

    @Test(arguments: [
        ("", "no JSON value at byte 0"), ("{}", "not a list of columns at byte 0"),
        ("[]", "a list without columns at byte 0"), ("[1]", "a column without a valid name at byte 1"),
        (#"[{"name":"a"}]"#, "column a: an unknown type at byte 1"),
        (#"[{"name":"a","type":"STRING"},{"name":"b","type":"INT"}]"#, "column b: an unknown type at byte 30"),
        (#"[{"name":"a","type":"STRING","mode":"LIST"}]"#, "column a: an unknown mode at byte 1"),
        (#"[{"name":"a","type":"RECORD"}]"#, "column a: a record without fields at byte 1"),
        (#"[{"name":"a","type":"RECORD","fields":[]}]"#, "a list without columns at byte 38"),
        (#"[{"name":"a b","type":"STRING"}]"#, "a column without a valid name at byte 1"),
        (#"[{"name":"../a","type":"STRING"}]"#, "a column without a valid name at byte 1"),
        (#"[{"name":"1a","type":"STRING"}]"#, "a column without a valid name at byte 1"),
        (#"[{"name":"a","type":"STRING"},{"name":"a","type":"INT64"}]"#, "two columns with the name a at byte 30"),
        (nested(16), "more than 15 nested records at byte 608"),
        (nested(100), "more than 15 nested records at byte 608"),
        (
            #"[{"name":"\#(String(repeating: "a", count: 301))","type":"STRING"}]"#,
            "a column without a valid name at byte 1"
        ),
    ])
    func faults(schema: String, expected: String) {
        #expect(throws: TableSchemaError.self) { try TableSchema.columns(in: Array(schema.utf8)) }
        do { _ = try TableSchema.columns(in: Array(schema.utf8)) } catch { #expect(error.description == expected) }
    }

    @Test func legacyTypesAndDefaultModesAreAccepted() throws {
        let schema =
            #"[{"name":"a","type":"INTEGER"},{"name":"b","type":"STRUCT","fields":[{"name":"c","type":"BOOLEAN"}]}]"#
        let columns = try TableSchema.columns(in: Array(schema.utf8))
        #expect(try Self.row(#"{"a":1,"b":{"c":true,"d":0}}"#, columns) == #"{"a":1,"b":{"c":true}}"#)
        _ = try TableSchema.columns(in: Array(Self.nested(15).utf8))
    }

    @Test(
        "A row without a required value or with a wrong type is refused, also within records",
        arguments: [
            ("{}", "missing: r"), (#"{"r":null}"#, "missing: r"), (#"{"r":1,"o":{"x":1}}"#, "missing: o.r"),
            (#"{"r":1,"l":[{}]}"#, "missing: l.r"), (#"{"r":1,"m":{"k":null}}"#, "missing: m.value"),
            (#"{"r":1,"l":[[1],2],"o":7}"#, "missing: l.r"), (#"{"r":1,"o":7}"#, "not a record: o"),
            (#"{"r":1,"m":[{"key":1}]}"#, "not STRING: m.key"), (#"{"r":1,"m":[{"value":2}]}"#, nil),
            (#"{"r":1,"m":[{"value":"2"}]}"#, "not INT64: m.value"), (#"{"r":1,"m":{}}"#, nil),
            (#"{"r":1,"t":"x"}"#, "not TIMESTAMP: t"), (#"{"r":1,"t":"2020-01-01T00:00:00Z"}"#, nil),
            (#"{"r":1,"t":true}"#, "not TIMESTAMP: t"), (#"{"r":1,"l":{}}"#, "not a list: l"),
            (#"{"r":1,"l":"x"}"#, "not a list: l"),
            (#"{"o":{"r":2},"O":5,"r":1}"#, "not a record: o"), (#"{"O":5,"o":{"r":2},"r":1}"#, "not a record: o"),
            (#"{"o":5,"O":{"r":2},"r":1}"#, nil), (#"{"o":{"r":2},"O":null,"r":1}"#, nil),
        ])
    func refusals(payload: String, expected: String?) throws {
        let required = #"{"name":"r","type":"INT64","mode":"REQUIRED"}"#
        let schema = """
            [\(required),{"name":"x","type":"INT64"},{"name":"t","type":"TIMESTAMP"},
            {"name":"o","type":"RECORD","fields":[\(required),{"name":"x","type":"INT64"}]},
            {"name":"l","type":"RECORD","mode":"REPEATED","fields":[\(required),{"name":"x","type":"INT64"}]},
            {"name":"m","type":"RECORD","mode":"REPEATED","fields":[{"name":"key","type":"STRING"},
            {"name":"value","type":"INT64","mode":"REQUIRED"}]}]
            """
        let columns = try TableSchema.columns(in: Array(schema.utf8))
        do {
            _ = try Self.row(payload, columns)
            #expect(expected == nil)
        } catch let refusal as RowRefusal {
            #expect(refusal.reason == expected)
        }
    }

    private static func row(_ payload: String, _ columns: TableColumns) throws -> String {
        var transform = RowTransform()
        try transform.add(try JSONDocument(Array(payload.utf8)), columns)
        try transform.finish(columns)
        return String(readingUTF8: transform.row)
    }
}
