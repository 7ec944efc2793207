import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// A stored file of the format document, section 10, and the lines that it becomes, with codes alone as notes.
struct WorkedExample: CustomTestStringConvertible {
    let section: String
    let path: String
    let stored: String
    let lines: [String]

    var testDescription: String { "\(section) \(path)" }
}

@Suite struct WorkedExampleTests {
    @Test(
        "the worked examples come out as documented",
        arguments: WorkedExample.core + WorkedExample.events + WorkedExample.odd)
    func lines(example: WorkedExample) throws {
        var extraction = ScanOutput(capture: "c")
        let parts = example.path.split(separator: "/")
        let isArray = parts.last?.hasPrefix("MozTelemetry") ?? false
        let name = try #require(isArray ? parts.last?.dropLast(5) : parts.dropLast().last)
        let place = MozillaPlace(
            capture: "capture", path: example.path, store: isArray ? .mozillaPingArray : .mozillaPingFile,
            namedType: String(name.dropFirst("MozTelemetry-Default-".count)))
        var reader = PingReader(at: place)
        if isArray {
            reader.readPingArray(Array(example.stored.utf8), into: &extraction)
        } else {
            reader.readPingFile(Array(example.stored.utf8), into: &extraction)
        }
        #expect(extraction.records.map(\.lineWithNoteCodes) == example.lines)
        #expect(extraction.rejects == [])
        #expect(extraction.problems == [])
    }

    @Test("10.3 the second ping of the array shares its id with the first")
    func sharedID() throws {
        let example = try #require(WorkedExample.core.first { $0.section == "10.3" })
        let records = readPingArray(example.stored).records
        var index = DuplicateIndex()
        let findings = records.map { index.insert(RecordKey($0, secret: .ofTests)) }
        #expect(findings == [.new, .sameIDOtherPayload])
    }

    @Test("10.5 events are recovered around separators, the cut tail is refused")
    func pendingEvents() {
        let stored = #"""
            ,
            [0,"action","foreground","app"],
            [2147,"action","type_url","search_bar"],
            ,
            [2892,"action","click","erase_button"],
            [4010,"action","change","setting","BlockAds",{"to":"fal
            """#
        #expect(stored.utf8.count == 173)
        var file = PendingEventFile(Array(stored.utf8))
        let pending = file.read()
        #expect(pending.rejects.map(Refused.init) == [Refused("F4", at: 118, length: 55)])
        let place = MozillaPlace(
            capture: "capture", path: "Documents/eventArray-MozTelemetry-Default-focus-event.json",
            store: .mozillaPendingEvents, namedType: "focus-event")
        let records = PendingEventRecords.make(pending, borrowed: nil, client: nil, isOwnClient: false, at: place)
        #expect(
            records.map(\.lineWithNoteCodes) == [
                #"""
                {"app":null,"client":null,"held":["pending-events"],"id":"EEAA3659-EA33-5C69-9101-77274CAC3380",\#
                "notes":[],"payload":{"events":[[0,"action","foreground","app"],\#
                [2147,"action","type_url","search_bar"],[2892,"action","click","erase_button"]]},\#
                "source":{"capture":"capture","index":0,\#
                "path":"Documents/eventArray-MozTelemetry-Default-focus-event.json",\#
                "store":"mozilla-pending-events"},"system":"mozilla","target":null,"time":null,"type":"focus-event"}
                """#
            ])
    }

    @Test("10.8 the missing events are named")
    func missingEvents() throws {
        let example = try #require(WorkedExample.odd.first { $0.section == "10.8" })
        let records = readPingFile(example.stored, in: "focus-event").records
        #expect(records.map { $0.held.map(\.text) } == [["schema: events missing"]])
    }

    @Test("10.9 values of two stores belong to two clients")
    func values() throws {
        let old = try StoredValues(
            Array(
                #"""
                {
                  "clientId" : "B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44",
                  "core-seq" : 9,
                  "focus-event-seq" : 2,
                  "sessions" : 0,
                  "durations" : 0,
                  "searches" : null,
                  "focus-event-events" : [
                    [0, "action", "foreground", "app"],
                    [61240, "action", "background", "app"]
                  ],
                  "core-dailyUploadCount" : 7,
                  "core-lastUploadTimestamp" : 1502103611.201444
                }
                """#.utf8))
        #expect(old.client == "B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44")
        #expect(old.counters == nil)
        #expect(old.pending.map(\.type) == ["focus-event"])
        let place = MozillaPlace(
            capture: "capture", path: "Documents/MozTelemetry-Default-values.json", store: .mozillaValues,
            namedType: "focus-event")
        let pending = try #require(old.pending.first)
        let records = PendingEventRecords.make(
            pending.events, borrowed: nil, client: old.client, isOwnClient: true, at: place)
        #expect(
            records.map(\.lineWithNoteCodes) == [
                #"""
                {"app":null,"client":"B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44","held":["pending-events"],\#
                "id":"A401842C-80E6-5378-A3FA-72298604C6C8","notes":[],\#
                "payload":{"clientId":"B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44",\#
                "events":[[0,"action","foreground","app"],[61240,"action","background","app"]]},\#
                "source":{"capture":"capture","index":0,"path":"Documents/MozTelemetry-Default-values.json",\#
                "store":"mozilla-values"},"system":"mozilla","target":null,"time":null,"type":"focus-event"}
                """#
            ])

        // The preferences without the prefix of their keys.
        let new = try StoredValues(
            Array(
                #"""
                {"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","core-seq":12,"focus-event-seq":5,"sessions":0,
                "durations":0,"searches":{},"core-dailyUploadCount":3,"core-lastUploadTimestamp":1527163209.512348}
                """#.utf8))
        #expect(new.client == "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083")
        #expect(new.counters == nil)
        #expect(new.pending.isEmpty)
    }
}
