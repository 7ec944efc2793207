import Foundation
import Telemetry
import TestSupport
import Testing

@testable import Glean

/// Tests of the definitions that `glean_parser dump` prints.
@Suite struct GleanDefinitionsTests {
    /// Returns the errors in a file, with the thrown one first.
    private func faults(_ file: String) -> [String] {
        var definitions = GleanDefinitions()
        do throws(DefinitionsError) {
            return try definitions.read(Array(file.utf8)).map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test(
        "Errors name the definition, the reason and the byte.",
        arguments: [
            ("", ["no JSON value at byte 0"]), ("[]", ["not a JSON object with a definition for each name at byte 0"]),
            (#"{"a.b":{"type":"counter"}"#, ["JSON ends inside a value at byte 25"]),
            (#"{"a.b":{"type":"counter"},"a.b":{}}"#, ["duplicate key at byte 26"]),
            ("{}", []), (#"{"a.b":{"type":"counter"}}"#, []),
            (#"{"a.b":[]}"#, ["a.b: not an object at byte 7"]), (#"{"a.b":{}}"#, ["a.b: has no type at byte 7"]),
            (#"{"a.b":{"type":null}}"#, ["a.b: has no type at byte 7"]),
            (#"{"a.b":{"type":7}}"#, ["a.b: type is not a string at byte 15"]),
            (#"{"A.b":{"type":"counter"}}"#, ["A.b: not the name of a metric at byte 7"]),
            (#"{"":{"type":"counter"}}"#, [": not the name of a metric at byte 4"]),
            (#"{"a.b":{"type":"x","unit":7}}"#, ["a.b: unit is not a string at byte 26"]),
            (#"{"a.b":{"type":"x","unit":null,"expires":150}}"#, []),
            (#"{"a.b":{"type":"x","expires":true}}"#, ["a.b: expires is not a string at byte 29"]),
            (
                #"{"a.b":{"type":"x","data_sensitivity":"x"}}"#,
                ["a.b: data_sensitivity is not a list of strings at byte 39"]
            ),
            (#"{"a.b":{"type":"x","labels":["x",7]}}"#, ["a.b: labels is not a list of strings at byte 28"]),
            (#"{"a.b":{"type":"x","extra_keys":[]}}"#, ["a.b: extra_keys is not an object at byte 32"]),
            (
                #"{"a.b":{"type":"x","description":{}},"a.c":{"type":"x"}}"#,
                ["a.b: description is not a string at byte 33"]
            ),
            (#"{"a-ping":{"description":"x","include_client_id":true}}"#, []),
            (#"{"a.b":\#(String(repeating: "[", count: 100))"#, ["nested too deep at byte 70"]),
        ])
    func invalidFiles(file: String, expected: [String]) {
        #expect(faults(file) == expected)
    }

    @Test("Of several definitions with one name, the first is kept, and a different one is reported.")
    func contradictions() throws {
        var definitions = GleanDefinitions()
        let first = Array(#"{"a.b":{"type":"counter","description":"One."}}"#.utf8)
        #expect(try definitions.read(first) == [])
        #expect(try definitions.read(first) == [])
        let other = #"{"a.b":{"type":"counter","description":"Two."},"a.c":{"type":"counter"}}"#
        #expect(
            try definitions.read(Array(other.utf8)).map(\.description) == ["a.b: differs from an earlier one at byte 7"]
        )
        #expect(definitions["a.b"]?.summary == "One")
        #expect(definitions.count == 2)
    }

    @Test("The number of definitions is limited.")
    func limit() {
        let names = (0...GleanDefinitions.maximumCount).map { "\"a.b\($0)\":{\"type\":\"x\"}" }
        #expect(faults("{\(names.joined(separator: ","))}") == ["more than 100000 definitions"])
    }

    @Test(
        "The summary is the first sentence of the description.",
        arguments: [
            ("One. Two.", "One"), ("One", "One"), ("One!", "One!"), ("One? Two", "One?"),
            (" \n One\n  two.\nThree.", "One two"),
            ("One\n\ntwo.", "One"), ("Tabs, e.g. one. Two.", "Tabs, e.g. one"),
            ("Version 1.5 of it. x", "Version 1.5 of it"),
            ("A, b etc. and c. D", "A, b etc. and c"), ("See a.b. c", "See a.b. c"), ("x\u{200B}\u{1B}y.", "xy"),
            ("", nil), (" \n ", nil), (".", nil), ("é.", "é"),
            (String(repeating: "x", count: 200), String(repeating: "x", count: 200)),
            (String(repeating: "x", count: 201), String(repeating: "x", count: 200) + "…"),
        ] as [(String, String?)])
    func summaries(description: String, expected: String?) {
        #expect(GleanDefinition.firstSentence(of: description) == expected)
    }

    @Test("The output of glean_parser is read.")
    func realFile() throws {
        var definitions = GleanDefinitions()
        let file = try Data(contentsOf: URL(filePath: "\(repository)/Tests/Fixtures/glean-definitions.json"))
        #expect(try definitions.read(Array(file)) == [])
        #expect(
            definitions.sorted.map(\.name) == [
                "app.startup", "fx_suggest.position", "onboarding.card_view", "onboarding.close_tap", "search.counts",
                "sync.failures", "sync.size", "toolbar.tapped",
            ])
        let card = try #require(definitions["onboarding.card_view"])
        #expect(card.type == "event" && card.summary == "A card of the first run was shown")
        #expect(card.description?.hasSuffix("also if the user returns to it.\n") == true)
        #expect(card.sensitivities == ["interaction"] && card.pings == ["events"] && card.lifetime == "ping")
        #expect(
            card.extraKeys.map { String(decoding: $0, as: UTF8.self) }
                == #"{"card_type":{"description":"The type of the card.","type":"string"}}"#)
        #expect(
            definitions["toolbar.tapped"]?.summary
                == "A button of the toolbar was tapped, e.g. the button for a new tab")
        let startup = try #require(definitions["app.startup"])
        #expect(startup.timeUnit == "millisecond" && startup.expiration == "2027-01-01" && startup.unit == nil)
        #expect(definitions["fx_suggest.position"]?.unit == "suggestions")
        #expect(definitions["sync.size"]?.memoryUnit == "kilobyte")
        #expect(definitions["search.counts"]?.labels == ["google.actionbar", "other.suggestion"])
        let failures = try #require(definitions["sync.failures"])
        #expect(failures.labels == ["bookmarks", "history"] && failures.secondLabels == ["network", "server"])
    }
}
