import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the cases C9 to C24 of unusual fields in core pings (section 5.3 of the format document).
@Suite struct CoreFieldCaseTests {
    @Test(
        "C9: A date in another calendar or with other digits is kept with a note",
        arguments: [
            "2560-12-08", "0029-12-08", "\u{662}\u{660}\u{661}\u{667}-\u{661}\u{662}-\u{660}\u{668}", "1439-03-20", "",
            "2018-5-24", "2018-05-24T12:00:00Z",
        ])
    func otherCalendar(day: String) throws {
        try expect(["created": "\"\(day)\""], notes: ["C9"])
    }

    @Test("C10: A date before the date of the ping is kept")
    func createdAtStart() throws {
        try expect(["created": #""2018-05-22""#])
    }

    @Test("C11: A local date that differs from the date in UTC is kept")
    func createdLocal() throws {
        try expect(["created": #""2018-05-25""#, "tz": "600"])
    }

    @Test("C12: A client id in lower case is kept")
    func clientInLowerCase() throws {
        let id = "4f8e2d6a-1b7c-4e39-8a50-c2d7f1b6e083"
        try expect(["clientId": "\"\(id)\""])
        let text = StoredJSON.envelope("core", StoredJSON.measurements("core", ["clientId": "\"\(id)\""]))
        #expect(readPingFile(text).records.map(\.client) == [id])
    }

    @Test("C12: A ping whose client id is not a UUID is held", arguments: [#""4F8E2D6A""#, #""""#, "null", "7"])
    func otherClient(value: String) throws {
        try expect(["clientId": value], held: ["schema"])
    }

    @Test("C13: The placeholder client id is kept with a note")
    func placeholderClient() throws {
        try expect(["clientId": #""c0ffeec0-ffee-c0ff-eec0-ffeec0ffeec0""#], notes: ["C13"])
    }

    @Test("C14: Other versions are checked against their own schemas")
    func otherVersions() throws {
        for version in ["2", "3", "4", "5", "6", "8", "9", "10"] {
            try expect(["v": version])
            try expect(["v": version, "sessions": #""x""#], held: ["schema"])
            try expect(["v": version, "searches": "null"], becomes: ["searches": nil], notes: ["C8"])
        }
    }

    @Test("C14: Fields that version 1 does not have are not checked")
    func versionOne() throws {
        try expect(["v": "1"])
        try expect(["v": "1", "sessions": #""x""#, "searches": "null"])
        try expect(["v": "1", "experiments": "[1]"], held: ["schema"])
        try expect(["v": "1", "seq": nil], held: ["schema"])
    }

    @Test("C14: A ping with an unknown version is held", arguments: ["0", "11", "-7", "70", "99999999999999999999"])
    func unknownVersion(version: String) throws {
        try expect(["v": version], held: ["schema"])
    }

    @Test(
        "C15: A ping without a version or with a version of another type is held",
        arguments: [nil, #""seven""#, "[7]", "{}", "null", "true"])
    func noVersion(value: String?) throws {
        try expect(["v": value], held: ["schema"])
    }

    @Test("C16: Missing optional fields are not added")
    func optionalFieldsMissing() throws {
        try expect([
            "created": nil, "defaultSearch": nil, "durations": nil, "profileDate": nil, "searches": nil,
            "sessions": nil, "tz": nil,
        ])
    }

    @Test(
        "C17: A ping without a required field is held, and the field is named",
        arguments: ["arch", "clientId", "device", "locale", "os", "osversion", "seq", "v"])
    func requiredFieldMissing(key: String) throws {
        try expect([key: nil], held: ["schema"])
        let text = StoredJSON.envelope("core", StoredJSON.measurements("core", [key: nil]))
        #expect(readPingFile(text).records.map { $0.held.map(\.text) } == [["schema: \(key) missing"]])
    }

    @Test("C17: A ping with a required field of another type is held", arguments: ["null", "7", "[]", "true"])
    func requiredFieldOfAnotherType(value: String) throws {
        for key in ["arch", "device", "locale", "os", "osversion"] { try expect([key: value], held: ["schema"]) }
    }

    @Test("C18: Unknown fields are kept unchanged")
    func unknownFields() throws {
        try expect([
            "showTrackerStatsSharePhase2": "true", "x\u{1F98A}": #"{"n":[9007199254740993,1.50,"a/b",null,1E-7]}"#,
            "null": "null", "\u{FF5E}": "[]",
        ])
    }

    @Test(
        "C19: A ping with durations or searches of another type is held",
        arguments: [
            ("durations", "[34,12]"), ("durations", "{}"), ("searches", #"{"actionbar.Google":"2"}"#),
            ("searches", #"{"actionbar.Google":true}"#), ("searches", #"{"actionbar.Google":[2]}"#),
            ("searches", "[]"), ("searches", #"["actionbar.Google",2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]"#),
            ("searches", #""2""#), ("searches", "2"), ("created", "17626"), ("defaultSearch", "[]"),
        ])
    func otherTypes(key: String, value: String) throws {
        try expect([key: value], held: ["schema"])
    }

    @Test("C20: Very large, zero and negative durations are kept", arguments: ["978307200", "0", "-5"])
    func unusualDurations(value: String) throws {
        try expect(["durations": value])
    }

    @Test("C21: A restarted sequence number is kept, and a negative one is held")
    func sequenceNumbers() throws {
        try expect(["seq": "1"])
        try expect(["seq": "0"])
        try expect(["seq": "-1"], held: ["schema"])
    }

    @Test(
        "C22: An offset that no time zone has is kept with a note", arguments: ["841", "-721", "99999999999999999999"])
    func offsetOutOfRange(minutes: String) throws {
        try expect(["tz": minutes], notes: ["C22"])
    }

    @Test("C22: The largest offsets of time zones are not noted", arguments: ["840", "-720", "0"])
    func offsetInRange(minutes: String) throws {
        try expect(["tz": minutes])
    }

    @Test("C23: An unusual locale is kept", arguments: ["zh_Hans_CN", "sr-Latn-RS", "??", ""])
    func unusualLocale(locale: String) throws {
        try expect(["locale": "\"\(locale)\""])
    }

    @Test("C24: A reversed search key is kept with a note")
    func reversedSearchKey() throws {
        try expect(["searches": #"{"Google.actionbar":2,"a.b.suggestion":1}"#], notes: ["C24", "C24"])
        try expect(["searches": #"{"actionbar.listitem":2,"suggestion.a.b":1,"x":3,"y.z":4}"#])
    }

    @Test("Several faults result in one hold")
    func severalFaults() throws {
        try expect(["os": nil, "seq": #""x""#, "v": "true", "sessions": "1.5"], held: ["schema"])
    }
}
