import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the records of events that are not in a ping yet (section 4.5 of the format document).
///
/// The expected ids were computed with Python's `uuid.uuid5(uuid.NAMESPACE_URL, name)`.
@Suite struct PendingEventRecordTests {
    private static let foreground = #"[0,"action","foreground","app"]"#

    private func pending(_ text: String) -> PendingEvents {
        var file = PendingEventFile(Array(text.utf8))
        return file.read()
    }

    private func records(
        _ text: String = foreground, type: String = "focus-event", borrowed: BorrowedFields? = nil, client: String?,
        isClientInFile: Bool, firstIndex: Int = 0, applicationID: String? = nil
    ) -> [Record] {
        PendingEventRecords.makeRecords(
            of: pending(text), type: type, borrowed: borrowed, client: client, isClientInFile: isClientInFile,
            firstIndex: firstIndex, applicationID: applicationID,
            from: Source(
                capture: "capture", path: "Documents/eventArray-MozTelemetry-Default-\(type).json",
                store: .mozillaPendingEvents, index: 0))
    }

    private func ping(_ changes: StoredJSON.Changes = [:]) throws -> BorrowedFields {
        let text = StoredJSON.envelope("focus-event", StoredJSON.measurements("focus-event", changes))
        let record = try #require(readPingFile(text, in: "focus-event").records.first)
        return try #require(BorrowedFields(record))
    }

    @Test("Without a known client, the record contains only the events")
    func unrecognized() throws {
        let records = self.records(client: nil, isClientInFile: false)
        let record = try #require(records.first)
        #expect(records.count == 1)
        #expect(record.id == "E96E8BDB-9524-53AA-B4BD-77327E6EFB21")
        #expect(record.text == #"{"events":[[0,"action","foreground","app"]]}"#)
        #expect(record.client == nil && record.app == nil && record.target == nil && record.time == nil)
        #expect(record.notes == [])
        #expect(record.held == [.pendingEvents])
    }

    @Test("The client id in the preferences is used with a note")
    func clientOfPreferences() throws {
        let records = self.records(
            client: StoredJSON.client, isClientInFile: false, applicationID: "org.mozilla.ios.Focus")
        let record = try #require(records.first)
        #expect(record.id == "83791E66-9F69-5755-A8E4-FD0D9E8E920A")
        #expect(record.client == StoredJSON.client)
        #expect(
            record.text
                == #"{"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","events":[[0,"action","foreground","app"]]}"#)
        #expect(record.noteCodes == ["PE"])
        #expect(record.app == App(id: "org.mozilla.ios.Focus"))
    }

    @Test("The client id in the file is used as spelled, without a note")
    func ownClient() throws {
        let records = self.records(client: StoredJSON.client.lowercased(), isClientInFile: true, firstIndex: 3)
        let record = try #require(records.first)
        #expect(record.id == "C9A01CF5-F594-5D24-96C7-C59612857493")
        #expect(record.noteCodes == [])
        #expect(record.source.index == 3)
    }

    @Test("The id depends on the type")
    func otherType() throws {
        let records = self.records(type: "mobile-event", client: StoredJSON.client, isClientInFile: true)
        #expect(records.map(\.id) == ["05D33156-AAAA-5827-A339-3A0A6D0ECE61"])
        #expect(records.map(\.type) == ["mobile-event"])
    }

    @Test("The id depends on the canonical events")
    func canonicalEvents() throws {
        let records = self.records(
            "[ 1 , \"a\", \"b\",\"\\ud83e\\udd8a\\/\\u0007\" ]", type: "core", client: nil, isClientInFile: false)
        #expect(records.map(\.id) == ["09FBFE65-55F0-5589-B487-7874FFA13527"])
        #expect(records.map(\.text) == ["{\"events\":[[1,\"a\",\"b\",\"\u{1F98A}/\\u0007\"]]}"])
    }

    @Test("The fields of the newest ping are used, except those that describe only that ping")
    func borrowedFields() throws {
        let records = self.records(borrowed: try ping(), client: "another", isClientInFile: false)
        let record = try #require(records.first)
        #expect(
            record.text == #"""
                {"arch":"arm64","clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","device":"iPhone10,6",\#
                "events":[[0,"action","foreground","app"]],"locale":"en-US","os":"iOS","osversion":"11.3.1",\#
                "settings":{"BlockAds":"true"},"tz":-240,"v":1}
                """#)
        #expect(record.id == "83791E66-9F69-5755-A8E4-FD0D9E8E920A")
        #expect(record.client == StoredJSON.client)
        #expect(record.app == App(name: "Focus", version: "5.0", channel: "release", build: "2"))
        #expect(record.noteCodes == ["PE"])
        for name in ["arch", "clientId", "device", "locale", "os", "osversion", "settings", "tz", "v"] {
            #expect(record.notes[0].contains(name))
        }
    }

    @Test("Fields that the newest ping does not have are omitted")
    func unknownFields() throws {
        let borrowed = try ping(["arch": nil, "device": nil, "settings": nil, "tz": "null"])
        let records = self.records(borrowed: borrowed, client: nil, isClientInFile: false)
        #expect(
            records.map(\.text) == [
                #"""
                {"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","events":[[0,"action","foreground","app"]],\#
                "locale":"en-US","os":"iOS","osversion":"11.3.1","v":1}
                """#
            ])
    }

    @Test("The fields of a ping without a client are not used")
    func pingWithoutClient() throws {
        for client in [nil, #""""#, "7"] as [String?] {
            let measurements = StoredJSON.measurements("focus-event", ["clientId": client])
            let text = StoredJSON.envelope("focus-event", measurements)
            let record = try #require(readPingFile(text, in: "focus-event").records.first)
            #expect(BorrowedFields(record) == nil)
        }
    }

    @Test(
        "A record has at most 500 events",
        arguments: [(1, [1]), (500, [500]), (501, [500, 1]), (1203, [500, 500, 203])])
    func runs(count: Int, sizes: [Int]) {
        let events = (0..<count).map { #"[\#($0),"action","foreground","app"]"# }
        let records = self.records(
            events.joined(separator: ",\n"), type: "mobile-event", client: nil, isClientInFile: false)
        var first = 0
        for (number, size) in sizes.enumerated() {
            let expected = events[first..<first + size].joined(separator: ",")
            #expect(records[number].text == "{\"events\":[\(expected)]}")
            #expect(records[number].source.index == number)
            first += size
        }
        #expect(records.count == sizes.count)
        if count == 1203 {
            #expect(
                records.map(\.id) == [
                    "799F6AB9-BF7F-5D5F-9B2D-C2ABFDF098F6", "1C822563-5C90-5120-B13F-953E7574C346",
                    "20EA847A-138C-583B-B6B9-37E0EBA2E8E1",
                ])
        }
    }

    @Test("No record is made without events")
    func noEvents() {
        let records = self.records(",\n", client: "x", isClientInFile: true)
        #expect(records == [])
    }
}
