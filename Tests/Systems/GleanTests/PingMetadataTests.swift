import Bytes
import JSONText
import Telemetry
import Testing

@testable import Glean

@Suite struct PingMetadataTests {
    private func metadata(_ text: String) throws -> PingMetadata? { PingMetadata(try JSONDocument(Array(text.utf8))) }

    @Test("All known keys are read, and unknown keys are listed")
    func allKeys() throws {
        let text = #"""
            {"headers":{"X-Debug-ID":"a","Host":"b"},"body_has_info_sections":false,"ping_name":"c",\#
            "uploader_capabilities":["ohttp","http"],"retries":3}
            """#
        let found = try #require(try metadata(text))
        #expect(found.headers == [HeaderField("Host", "b"), HeaderField("X-Debug-ID", "a")])
        #expect(!found.requiresInfoSections)
        #expect(found.pingName == "c")
        #expect(found.capabilities == ["ohttp", "http"])
        #expect(found.unknownKeys == ["retries"])
    }

    @Test(
        "null has the same meaning as a missing key [G33]",
        arguments: [
            "{}",
            #"{"headers":null,"body_has_info_sections":null,"ping_name":null,"uploader_capabilities":null}"#,
        ])
    func nulls(text: String) throws {
        let found = try #require(try metadata(text))
        #expect(
            found.headers.isEmpty && found.requiresInfoSections && found.pingName == nil && found.capabilities.isEmpty)
    }

    @Test(
        "A value of another type makes the whole line unreadable [G31]",
        arguments: [
            "[]", "7", #"{"headers":[]}"#, #"{"headers":{"X-Debug-ID":1}}"#, #"{"body_has_info_sections":"yes"}"#,
            #"{"ping_name":["a"]}"#, #"{"uploader_capabilities":"ohttp"}"#, #"{"uploader_capabilities":[null]}"#,
        ])
    func otherTypes(text: String) throws {
        #expect(try metadata(text) == nil)
    }
}

@Suite struct PingTagsTests {
    private static let cases: [([HeaderField], [CapturedText: String], [String], [String])] = [
        ([], [:], [], []), ([HeaderField("x-DEBUG-id", "A-1")], ["X-Debug-ID": "A-1"], [], []),
        ([HeaderField("X-Source-Tags", "1,2,3,4,5")], ["X-Source-Tags": "1,2,3,4,5"], [], []),
        ([HeaderField("X-Debug-ID", "two words")], [:], ["X-Debug-ID"], []),
        ([HeaderField("X-Debug-ID", "")], [:], ["X-Debug-ID"], []),
        ([HeaderField("X-Debug-ID", String(repeating: "x", count: 21))], [:], ["X-Debug-ID"], []),
        ([HeaderField("X-Debug-ID", "a\r\nX-Evil: 1")], [:], ["X-Debug-ID"], []),
        ([HeaderField("X-Debug-ID", "café")], [:], ["X-Debug-ID"], []),
        ([HeaderField("X-Source-Tags", "1,2,3,4,5,6")], [:], ["X-Source-Tags"], []),
        ([HeaderField("X-Source-Tags", "a,,b")], [:], ["X-Source-Tags"], []),
        ([HeaderField("X-Debug-ID", "one"), HeaderField("x-debug-id", "two")], [:], ["X-Debug-ID"], []),
        ([HeaderField("Host", "evil"), HeaderField("X-Debug-ID", "ok")], ["X-Debug-ID": "ok"], [], ["Host"]),
        (
            [HeaderField("X-Debug-ID", "!"), HeaderField("X-Source-Tags", "perf")], ["X-Source-Tags": "perf"],
            ["X-Debug-ID"], []
        ),
    ]

    @Test("Tags are selected from the header fields", arguments: cases)
    func selectedTags(fields: [HeaderField], accepted: [CapturedText: String], rejected: [String], others: [String]) {
        let tags = PingTags(fields)
        #expect(tags.acceptedTags == accepted)
        #expect(tags.rejectedTagNames == rejected)
        #expect(tags.otherFieldNames == others)
    }

    @Test("Notes contain the names of dropped fields, but not their values")
    func notes() {
        var record = Record(
            system: .glean, type: "a", id: "b", payload: [],
            source: Source(capture: "c", path: "p", store: .gleanPingFile, index: 0))
        PingTags([HeaderField("Authorization", "SECRET"), HeaderField("X-Debug-ID", "no good SECRET")])
            .apply(to: &record)
        #expect(record.notes.map { String($0.prefix(3)) } == ["G36", "G37"])
        #expect(!record.notes.joined().contains("SECRET"))
    }
}
