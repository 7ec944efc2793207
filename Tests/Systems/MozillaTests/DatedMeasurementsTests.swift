import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the oldest format (S0), which contains measurements by date.
@Suite struct DatedMeasurementsTests {
    private func read(_ text: String) -> ScanOutput {
        let source = Source(
            capture: "capture", path: "Documents/MozTelemetry.plist", store: .mozillaPingArray, index: 0)
        var reader = PingReader(.datedMeasurements)
        return reader.findings(in: Array(text.utf8), from: source)
    }

    @Test("Each date becomes the time of a record, which is held because it has no target")
    func records() {
        let extraction = read(
            """
            {"2017-04-25 21:14:03 +0000":\(StoredJSON.measurements("core")),\
            "2017-04-25 21:14:04 +0000":\(StoredJSON.measurements("focus-event")),\
            "yesterday":\(StoredJSON.measurements("core", ["seq": "5"]))}
            """)
        #expect(extraction.rejects == [])
        #expect(extraction.records.map(\.type) == ["core", "focus-event", "core"])
        #expect(
            extraction.records.map { $0.time?.description } == [
                "2017-04-25T21:14:03.000Z", "2017-04-25T21:14:04.000Z", nil,
            ])
        #expect(
            extraction.records.map(\.text) == [
                StoredJSON.measurements("core"), StoredJSON.measurements("focus-event"),
                StoredJSON.measurements("core", ["seq": "5"]),
            ])
        for record in extraction.records {
            #expect(record.id.hasPrefix("sha256:") && record.id.count == 71)
            #expect(record.noteCodes == ["S0"])
            #expect(record.heldCodes == ["no-target"])
            #expect(record.target == nil)
        }
    }

    @Test("An entry of another type is rejected")
    func otherEntry() {
        let extraction = read(#"{"2017-04-25 21:14:03 +0000":7}"#)
        #expect(extraction.refused == [RejectSummary("S0")])
        #expect(extraction.records == [])
    }

    @Test("A root that is not an object is rejected", arguments: ["[1,2,3]", "7", "null"])
    func otherRoot(text: String) {
        #expect(read(text).refused == [RejectSummary("S0")])
    }
}
