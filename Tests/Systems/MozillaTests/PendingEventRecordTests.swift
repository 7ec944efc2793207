import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Records of events that are in no ping yet, section 4.5 of the format document. The ids are those of Python's
/// `uuid.uuid5(uuid.NAMESPACE_URL, name)`.
@Suite struct PendingEventRecordTests {
    private static let foreground = #"[0,"action","foreground","app"]"#

    private func pending(_ text: String) -> PendingEvents {
        var file = PendingEventFile(Array(text.utf8))
        return file.read()
    }

    private func place(_ type: String = "focus-event", applicationID: String? = nil) -> MozillaPlace {
        MozillaPlace(
            capture: "capture", path: "Documents/eventArray-MozTelemetry-Default-\(type).json",
            store: .mozillaPendingEvents, namedType: type, applicationID: applicationID)
    }

    private func ping(_ changes: StoredJSON.Changes = [:]) throws -> BorrowedFields {
        let text = StoredJSON.envelope("focus-event", StoredJSON.measurements("focus-event", changes))
        let record = try #require(readPingFile(text, in: "focus-event").records.first)
        return try #require(BorrowedFields(record))
    }

    @Test("nothing is known: events alone, id over nothing and the events")
    func nothingKnown() throws {
        let records = PendingEventRecords.make(
            pending(Self.foreground), borrowed: nil, client: nil, isOwnClient: false, at: place())
        let record = try #require(records.first)
        #expect(records.count == 1)
        #expect(record.id == "E96E8BDB-9524-53AA-B4BD-77327E6EFB21")
        #expect(record.text == #"{"events":[[0,"action","foreground","app"]]}"#)
        #expect(record.client == nil && record.app == nil && record.target == nil && record.time == nil)
        #expect(record.notes == [])
        #expect(record.held == [.pendingEvents])
    }

    @Test("a client of the preferences is borrowed with a note")
    func clientOfPreferences() throws {
        let records = PendingEventRecords.make(
            pending(Self.foreground), borrowed: nil, client: StoredJSON.client, isOwnClient: false,
            at: place(applicationID: "org.mozilla.ios.Focus"))
        let record = try #require(records.first)
        #expect(record.id == "83791E66-9F69-5755-A8E4-FD0D9E8E920A")
        #expect(record.client == StoredJSON.client)
        #expect(
            record.text
                == #"{"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","events":[[0,"action","foreground","app"]]}"#)
        #expect(record.noteCodes == ["PE"])
        #expect(record.app == App(id: "org.mozilla.ios.Focus"))
    }

    @Test("a client of the file itself is not borrowed, and its spelling counts")
    func ownClient() throws {
        let records = PendingEventRecords.make(
            pending(Self.foreground), borrowed: nil, client: StoredJSON.client.lowercased(), isOwnClient: true,
            firstIndex: 3, at: place())
        let record = try #require(records.first)
        #expect(record.id == "C9A01CF5-F594-5D24-96C7-C59612857493")
        #expect(record.noteCodes == [])
        #expect(record.source.index == 3)
    }

    @Test("the type counts in the id")
    func otherType() throws {
        let records = PendingEventRecords.make(
            pending(Self.foreground), borrowed: nil, client: StoredJSON.client, isOwnClient: true,
            at: place("mobile-event"))
        #expect(records.map(\.id) == ["05D33156-AAAA-5827-A339-3A0A6D0ECE61"])
        #expect(records.map(\.type) == ["mobile-event"])
    }

    @Test("the id is over the canonical events")
    func canonicalEvents() throws {
        let records = PendingEventRecords.make(
            pending("[ 1 , \"a\", \"b\",\"\\ud83e\\udd8a\\/\\u0007\" ]"), borrowed: nil, client: nil,
            isOwnClient: false, at: place("core"))
        #expect(records.map(\.id) == ["09FBFE65-55F0-5589-B487-7874FFA13527"])
        #expect(records.map(\.text) == ["{\"events\":[[1,\"a\",\"b\",\"\u{1F98A}/\\u0007\"]]}"])
    }

    @Test("of the newest ping everything is borrowed but what belongs to that ping alone")
    func borrowedFields() throws {
        let records = PendingEventRecords.make(
            pending(Self.foreground), borrowed: try ping(), client: "another", isOwnClient: false, at: place())
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

    @Test("what the newest ping does not have is left out")
    func unknownFields() throws {
        let borrowed = try ping(["arch": nil, "device": nil, "settings": nil, "tz": "null"])
        let records = PendingEventRecords.make(
            pending(Self.foreground), borrowed: borrowed, client: nil, isOwnClient: false, at: place())
        #expect(
            records.map(\.text) == [
                #"""
                {"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","events":[[0,"action","foreground","app"]],\#
                "locale":"en-US","os":"iOS","osversion":"11.3.1","v":1}
                """#
            ])
    }

    @Test("a ping without a client lends nothing")
    func pingWithoutClient() throws {
        for client in [nil, #""""#, "7"] as [String?] {
            let measurements = StoredJSON.measurements("focus-event", ["clientId": client])
            let text = StoredJSON.envelope("focus-event", measurements)
            let record = try #require(readPingFile(text, in: "focus-event").records.first)
            #expect(BorrowedFields(record) == nil)
        }
    }

    @Test(
        "a record has at most 500 events",
        arguments: [(1, [1]), (500, [500]), (501, [500, 1]), (1203, [500, 500, 203])])
    func runs(count: Int, sizes: [Int]) {
        let events = (0..<count).map { #"[\#($0),"action","foreground","app"]"# }
        let records = PendingEventRecords.make(
            pending(events.joined(separator: ",\n")), borrowed: nil, client: nil, isOwnClient: false,
            at: place("mobile-event"))
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

    @Test("no events make no record")
    func noEvents() {
        let records = PendingEventRecords.make(
            pending(",\n"), borrowed: nil, client: "x", isOwnClient: true, at: place())
        #expect(records == [])
    }
}
