import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Cases E8 to E11 of the format document, section 6.4: settings and extras that are not text.
@Suite struct EventTextCaseTests {
    private func events(extras: String) -> StoredJSON.Changes {
        ["events": StoredJSON.events(endingIn: #"[12892,"action","change","setting","x",\#(extras)]"#)]
    }

    @Test("E8 extras that are not text become text")
    func extrasNotText() throws {
        try expect(
            "focus-event", events(extras: #"{"a":true,"b":3,"c":0.50,"d":false,"e":1E-7,"f":9007199254740993}"#),
            becomes: events(
                extras: #"{"a":"true","b":"3","c":"0.50","d":"false","e":"1E-7","f":"9007199254740993"}"#),
            notes: Array(repeating: "E8", count: 6))
    }

    @Test("E8 null among the extras stays, other values are held")
    func otherExtras() throws {
        try expect("focus-event", events(extras: #"{"a":null}"#))
        try expect("focus-event", events(extras: #"{"a":[1]}"#), held: ["schema"])
        try expect("focus-event", events(extras: #"{"a":{}}"#), held: ["schema"])
    }

    @Test("E9 settings that are not text become text")
    func settingsNotText() throws {
        try expect(
            "focus-event", ["settings": #"{"BlockAds":true,"BlockFonts":false,"BlockOther":0,"prefKeyEngine":"G"}"#],
            becomes: ["settings": #"{"BlockAds":"true","BlockFonts":"false","BlockOther":"0","prefKeyEngine":"G"}"#],
            notes: ["E9", "E9", "E9"])
    }

    @Test("E9 null among the settings stays, other values are held")
    func otherSettings() throws {
        try expect("focus-event", ["settings": #"{"prefKeyEngine":null}"#])
        try expect("focus-event", ["settings": "{}"])
        try expect("focus-event", ["settings": #"{"prefKeyEngine":[]}"#], held: ["schema"])
        try expect("focus-event", ["settings": "[]"], held: ["schema"])
        try expect("focus-event", ["settings": "null"], held: ["schema"])
    }

    @Test("E10 window sizes as numbers become text", arguments: ["focus-event", "mobile-event"])
    func windowSizes(type: String) throws {
        try expect(
            type, ["settings": #"{"windowHeight":1112.5,"windowWidth":834}"#],
            becomes: ["settings": #"{"windowHeight":"1112.5","windowWidth":"834"}"#], notes: ["E10", "E10"])
    }

    @Test("E11 the description of an optional stays as stored", arguments: ["Optional(0)", "Optional(0.5)", "nil"])
    func optionals(text: String) throws {
        try expect("mobile-event", ["settings": "{\"prefKeyThemeName\":\"\(text)\"}"], notes: ["E11"])
        try expect("mobile-event", events(extras: "{\"slide-num\":\"\(text)\"}"), notes: ["E11"])
    }

    @Test("E11 texts that only look like it are none", arguments: ["Nil", "nil ", "Optional", "optional(0)", "null"])
    func noOptionals(text: String) throws {
        try expect("mobile-event", ["settings": "{\"prefKeyThemeName\":\"\(text)\"}"])
    }
}
