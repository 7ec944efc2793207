import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the cases E8 to E11 of settings and extras that are not strings (section 6.4 of the format document).
@Suite struct EventStringCaseTests {
    private func events(extras: String) -> StoredJSON.Changes {
        ["events": StoredJSON.events(endingIn: #"[12892,"action","change","setting","x",\#(extras)]"#)]
    }

    @Test("E8: Extras that are Booleans or numbers are replaced with strings")
    func otherExtraTypes() throws {
        try expect(
            "focus-event", events(extras: #"{"a":true,"b":3,"c":0.50,"d":false,"e":1E-7,"f":9007199254740993}"#),
            becomes: events(
                extras: #"{"a":"true","b":"3","c":"0.50","d":"false","e":"1E-7","f":"9007199254740993"}"#),
            notes: Array(repeating: "E8", count: 6))
    }

    @Test("E8: A null among the extras is kept, and a ping with other values is held")
    func otherExtras() throws {
        try expect("focus-event", events(extras: #"{"a":null}"#))
        try expect("focus-event", events(extras: #"{"a":[1]}"#), held: ["schema"])
        try expect("focus-event", events(extras: #"{"a":{}}"#), held: ["schema"])
    }

    @Test("E9: Settings that are Booleans or numbers are replaced with strings")
    func otherSettingTypes() throws {
        try expect(
            "focus-event", ["settings": #"{"BlockAds":true,"BlockFonts":false,"BlockOther":0,"prefKeyEngine":"G"}"#],
            becomes: ["settings": #"{"BlockAds":"true","BlockFonts":"false","BlockOther":"0","prefKeyEngine":"G"}"#],
            notes: ["E9", "E9", "E9"])
    }

    @Test("E9: A null among the settings is kept, and a ping with other values is held")
    func otherSettings() throws {
        try expect("focus-event", ["settings": #"{"prefKeyEngine":null}"#])
        try expect("focus-event", ["settings": "{}"])
        try expect("focus-event", ["settings": #"{"prefKeyEngine":[]}"#], held: ["schema"])
        try expect("focus-event", ["settings": "[]"], held: ["schema"])
        try expect("focus-event", ["settings": "null"], held: ["schema"])
    }

    @Test("E10: Window sizes that are numbers are replaced with strings", arguments: ["focus-event", "mobile-event"])
    func windowSizes(type: String) throws {
        try expect(
            type, ["settings": #"{"windowHeight":1112.5,"windowWidth":834}"#],
            becomes: ["settings": #"{"windowHeight":"1112.5","windowWidth":"834"}"#], notes: ["E10", "E10"])
    }

    @Test(
        "E11: The description of an optional is kept with a note", arguments: ["Optional(0)", "Optional(0.5)", "nil"])
    func optionals(text: String) throws {
        try expect("mobile-event", ["settings": "{\"prefKeyThemeName\":\"\(text)\"}"], notes: ["E11"])
        try expect("mobile-event", events(extras: "{\"slide-num\":\"\(text)\"}"), notes: ["E11"])
    }

    @Test(
        "E11: Strings that resemble the description of an optional are not noted",
        arguments: ["Nil", "nil ", "Optional", "optional(0)", "null"])
    func otherStrings(text: String) throws {
        try expect("mobile-event", ["settings": "{\"prefKeyThemeName\":\"\(text)\"}"])
    }
}
