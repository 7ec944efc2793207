import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// The oldest store (S0): measurements by the description of a date.
@Suite struct DatedMeasurementsTests {
    private func read(_ text: String) -> ScanOutput {
        var extraction = ScanOutput(capture: "c")
        let place = MozillaPlace(
            capture: "capture", path: "Documents/MozTelemetry.plist", store: .mozillaPingArray, namedType: "")
        var reader = PingReader(at: place)
        reader.readDatedMeasurements(Array(text.utf8), into: &extraction)
        return extraction
    }

    @Test("each is a record with its date as time, held for want of a target")
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

    @Test("an entry of another type is refused")
    func otherEntry() {
        let extraction = read(#"{"2017-04-25 21:14:03 +0000":7}"#)
        #expect(extraction.refused == [Refused("S0")])
        #expect(extraction.records == [])
    }

    @Test("another root is refused", arguments: ["[1,2,3]", "7", "null"])
    func otherRoot(text: String) {
        #expect(read(text).refused == [Refused("S0")])
    }
}
