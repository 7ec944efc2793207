import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// A worked example of the format document, which consists of a stored file and its records.
struct WorkedExample: CustomTestStringConvertible {
    /// The section of the format document.
    let section: String
    let path: String
    /// The contents of the file.
    let stored: String
    /// The records as lines of JSON.
    ///
    /// Notes are replaced with their codes.
    let lines: [String]

    var testDescription: String { "\(section) \(path)" }
}

@Suite struct WorkedExampleTests {
    @Test(
        "The worked examples have the documented records",
        arguments: WorkedExample.core + WorkedExample.events + WorkedExample.further)
    func lines(example: WorkedExample) throws {
        let parts = example.path.split(separator: "/")
        let isArray = parts.last?.hasPrefix("MozTelemetry") ?? false
        let name = try #require(isArray ? parts.last?.dropLast(5) : parts.dropLast().last)
        let source = Source(
            capture: "capture", path: example.path, store: isArray ? .mozillaPingArray : .mozillaPingFile, index: 0)
        var reader = PingReader(
            isArray ? .array : .pingFile, pingTypeFromName: String(name.dropFirst("MozTelemetry-Default-".count)))
        let extraction = reader.findings(in: Array(example.stored.utf8), from: source)
        #expect(extraction.records.map(\.lineWithNoteCodes) == example.lines)
        #expect(extraction.rejects == [])
        #expect(extraction.problems == [])
    }

    @Test("Example 10.3: the second ping of the array has the same id as the first")
    func sharedID() throws {
        let example = try #require(WorkedExample.core.first { $0.section == "10.3" })
        let records = readPingArray(example.stored).records
        var index = DuplicateIndex()
        let findings = records.map { index.insert(RecordKey($0)) }
        #expect(findings == [.new, .sameIDOtherPayload])
    }

    @Test("Example 10.5: complete events are read, and the truncated event is rejected")
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
        #expect(pending.rejects.map(RejectSummary.init) == [RejectSummary("F4", at: 118, length: 55)])
        let source = Source(
            capture: "capture", path: "Documents/eventArray-MozTelemetry-Default-focus-event.json",
            store: .mozillaPendingEvents, index: 0)
        let records = PendingEventRecords.makeRecords(
            of: pending, type: "focus-event", borrowed: nil, client: nil, isClientInFile: false, applicationID: nil,
            from: source)
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

    @Test("Example 10.8: the hold states that the events are missing")
    func missingEvents() throws {
        let example = try #require(WorkedExample.further.first { $0.section == "10.8" })
        let records = readPingFile(example.stored, in: "focus-event").records
        #expect(records.map { $0.held.map(\.text) } == [["schema: events missing"]])
    }

    @Test("Example 10.9: the values of two stores belong to two clients")
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
        #expect(old.clientID == "B3C1E4F2-7A55-4E0B-9C8E-2F1A0D9C7E44")
        #expect(old.counterProblem == nil)
        #expect(old.pendingEvents.map(\.type) == ["focus-event"])
        let source = Source(
            capture: "capture", path: "Documents/MozTelemetry-Default-values.json", store: .mozillaValues, index: 0)
        let pending = try #require(old.pendingEvents.first)
        let records = PendingEventRecords.makeRecords(
            of: pending.events, type: "focus-event", borrowed: nil, client: old.clientID, isClientInFile: true,
            applicationID: nil, from: source)
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

        // The keys of the preferences are listed without their prefix.
        let new = try StoredValues(
            Array(
                #"""
                {"clientId":"4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083","core-seq":12,"focus-event-seq":5,"sessions":0,
                "durations":0,"searches":{},"core-dailyUploadCount":3,"core-lastUploadTimestamp":1527163209.512348}
                """#.utf8))
        #expect(new.clientID == "4F8E2D6A-1B7C-4E39-8A50-C2D7F1B6E083")
        #expect(new.counterProblem == nil)
        #expect(new.pendingEvents.isEmpty)
    }
}
