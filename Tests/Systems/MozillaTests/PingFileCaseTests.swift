import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the cases P1 to P12 of ping files that are not a usual envelope (section 2.5 of the format document).
@Suite struct PingFileCaseTests {
    @Test("P1: An empty file is rejected", arguments: ["", " ", "\n\t\r\n"])
    func emptyFile(text: String) {
        let extraction = readPingFile(text)
        #expect(extraction.refused == [RejectSummary("P1")])
        #expect(extraction.records == [])
        #expect(readPingArray(text).refused == [RejectSummary("P1")])
    }

    @Test("P2: A truncated file is rejected with the offset of its end")
    func truncatedFile() {
        let changes = [
            "defaultSearch": #""Suche \"\u00e4\" \ud83e\udd8a/ \#u{E9}\#u{1F98A}""#,
            "x": "[true,false,null,-1.5e-3]",
        ]
        let text = Array(StoredJSON.envelope("core", StoredJSON.measurements("core", changes)).utf8)
        #expect(readPingFile(text).records.count == 1)
        for count in 1..<text.count {
            let extraction = readPingFile(Array(text[..<count]))
            #expect(extraction.refused == [RejectSummary("P2", at: count)], "\(count) bytes")
            #expect(extraction.records == [])
        }
    }

    @Test("P2: Invalid JSON is rejected with the offset of the error")
    func invalidJSON() {
        #expect(readPingFile(#"{"v": 07}"#).refused == [RejectSummary("json", at: 7)])
        #expect(readPingFile("{} x").refused == [RejectSummary("json", at: 3)])
        #expect(readPingFile([0x22, 0xC3, 0x28, 0x22]).refused == [RejectSummary("json", at: 1)])
        #expect(readPingFile([0x22, 0xFF]).refused == [RejectSummary("json", at: 1)])
        #expect(readPingFile([0x5B, 0x22, 0xC3, 0x22, 0x5D]).refused == [RejectSummary("json", at: 2)])
        #expect(readPingFile(#"{"x":"\ud83e"}"#).refused == [RejectSummary("json", at: 6)])
        #expect(readPingFile(String(repeating: "[", count: 513)).refused == [RejectSummary("json", at: 512)])
    }

    @Test("P3: An array in a ping folder is read as several envelopes")
    func arrayInFolder() throws {
        let good = StoredJSON.envelope("core", StoredJSON.measurements("core"))
        let event = StoredJSON.envelope("core", StoredJSON.measurements("core", ["seq": "13"]))
        let extraction = readPingFile("[\(good), 42,\(event), \"text\"]")
        #expect(extraction.records.map(\.source.index) == [0, 2])
        #expect(extraction.records.map(\.noteCodes) == [["P3"], ["P3"]])
        #expect(extraction.records.map(\.source.store) == [.mozillaPingFile, .mozillaPingFile])
        #expect(
            extraction.records.map(\.text) == [
                StoredJSON.measurements("core"), StoredJSON.measurements("core", ["seq": "13"]),
            ])
        let number = 1 + good.utf8.count + 2
        let text = number + 3 + event.utf8.count + 2
        #expect(
            extraction.refused == [
                RejectSummary("P5", at: number, length: 2), RejectSummary("P5", at: text, length: 6),
            ])
    }

    @Test("P3: An empty array contains no pings")
    func emptyArray() {
        for output in [readPingFile("[\n\n]"), readPingArray("[\n\n]")] {
            #expect(output.records.isEmpty && output.rejects.isEmpty && output.problems.isEmpty)
        }
    }

    @Test("P4: Measurements without an envelope are held")
    func bareMeasurements() throws {
        let extraction = readPingFile(StoredJSON.measurements("core"))
        #expect(extraction.rejects == [])
        let record = try #require(extraction.records.first)
        #expect(record.text == StoredJSON.measurements("core"))
        #expect(record.id == "sha256:7d70856ad0b708c6e076d46d8fb8638115a2bce66a5ed64919351d1497daccdd")
        #expect(record.noteCodes == ["P4"])
        #expect(record.heldCodes == ["no-target"])
        #expect(record.type == "core")
        #expect(record.client == StoredJSON.client)
        #expect(record.time == nil)
        #expect(record.app == nil)
        #expect(record.target == nil)
    }

    @Test("P4: The id of measurements without an envelope is the hash of the normalized measurements")
    func bareMeasurementsAreNormalized() throws {
        let extraction = readPingFile(StoredJSON.measurements("core", ["v": "7.0", "seq": #""twelve""#]))
        let record = try #require(extraction.records.first)
        #expect(record.text == StoredJSON.measurements("core", ["seq": #""twelve""#]))
        #expect(record.id == "sha256:875aee9c163c6dcafd7aee619208af7589b808b58d15834851ce21d439ed841b")
        #expect(record.noteCodes == ["P4", "C1"])
        #expect(record.heldCodes == ["schema", "no-target"])
    }

    @Test(
        "P5: An envelope without one of its keys is rejected, and the key is named",
        arguments: ["documentId", "measurements", "pingType", "timestamp", "uploadPath"])
    func missingKey(key: String) {
        let text = StoredJSON.envelope("core", StoredJSON.measurements("core"), [key: nil])
        #expect(readPingFile(text).rejects == [Reject("P5 \(key) missing")])
        #expect(
            readPingArray("[\(text)]").refused == [RejectSummary("P5", at: 1, length: text.utf8.count)])
    }

    @Test(
        "P5: An envelope with a value of another type is rejected, and the key is named",
        arguments: [
            ("documentId", "null"), ("documentId", "12"), ("measurements", #""text""#), ("measurements", "[]"),
            ("pingType", "7"), ("pingType", "{}"), ("timestamp", "true"), ("timestamp", "null"),
            ("uploadPath", #"["x"]"#), ("uploadPath", "false"),
        ])
    func keyOfAnotherType(key: String, value: String) {
        let text = StoredJSON.envelope("core", StoredJSON.measurements("core"), [key: value])
        #expect(readPingFile(text).rejects == [Reject("P5 \(key) of another type")])
    }

    @Test("P5: A root of another type is rejected", arguments: ["42", #""text""#, "null", "true", "{}"])
    func otherRoot(text: String) {
        #expect(readPingFile(text).refused == [RejectSummary("P5")])
        #expect(readPingArray(text).refused == [RejectSummary("P5")])
    }

    @Test("P6: An integer timestamp is accepted")
    func integerTimestamp() throws {
        let record = try expectRecord(envelope: ["timestamp": "1527163208"])
        #expect(record.time?.description == "2018-05-24T12:00:08.000Z")
    }

    @Test("P7: A timestamp in a string is accepted if it is a plain decimal number")
    func textTimestamp() throws {
        let record = try expectRecord(envelope: ["timestamp": #""1527163208.4180789""#], notes: ["P7"])
        #expect(record.time?.description == "2018-05-24T12:00:08.418Z")
        let whole = try expectRecord(envelope: ["timestamp": #""1527163208""#], notes: ["P7"])
        #expect(whole.time?.description == "2018-05-24T12:00:08.000Z")
    }

    @Test(
        "P7: A timestamp in another string is rejected",
        arguments: ["", "yesterday", "1.5271632084180789e9", "1527163208.", " 1527163208", "1.2.3", "+1", "-", "١"])
    func otherTextTimestamp(text: String) {
        let envelope = StoredJSON.envelope("core", StoredJSON.measurements("core"), ["timestamp": "\"\(text)\""])
        #expect(readPingFile(envelope).refused == [RejectSummary("P7")])
    }

    @Test("P8: A document id in lower case is kept as spelled")
    func lowercaseDocumentID() throws {
        let id = StoredJSON.documentID.lowercased()
        let path = StoredJSON.uploadPath("core", documentID: id)
        let record = try expectRecord(envelope: ["documentId": "\"\(id)\"", "uploadPath": "\"\(path)\""])
        #expect(record.id == "0c5a3b52-6e0b-4c8d-9f53-1d0a7e6c2b11")
        #expect(record.target?.path == path)
    }

    @Test(
        "P9: A ping whose document id is not a UUID is held",
        arguments: [
            "ping-0001", "0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B1", "0C5A3B526E0B4C8D9F531D0A7E6C2B11",
            "0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B1G", "0C5A3B52-6E0B-4C8D-9F53-1D0A7E6C2B111",
            "0C5A3B5-26E0B-4C8D-9F53-1D0A7E6C2B11",
        ])
    func invalidDocumentID(id: String) throws {
        let path = StoredJSON.uploadPath("core", documentID: id)
        let record = try expectRecord(
            envelope: ["documentId": "\"\(id)\"", "uploadPath": "\"\(path)\""], notes: ["P9"], held: ["schema"])
        #expect(record.id == id)
        #expect(record.target?.path == path)
    }

    @Test("P12: A repeated key is rejected at any position")
    func duplicateKeys() {
        let measurements = StoredJSON.measurements("core")
        let envelope = StoredJSON.envelope("core", measurements)
        let twice = [
            envelope.dropLast() + #","documentId":"x"}"#,
            envelope.replacing(#""seq":12"#, with: #""seq":12,"seq":12"#)[...],
            envelope.replacing(#""seq":12"#, with: #""seq":12,"\u0073eq":13"#)[...],
            envelope.replacing(#"{"actionbar.Google":2}"#, with: #"{"a":1,"a":2}"#)[...],
        ]
        for text in twice {
            #expect(text.utf8.count > envelope.utf8.count - 10 && text != envelope)
            #expect(readPingFile(String(text)).refused == [RejectSummary("P12")], "\(text)")
        }
    }

    @Test("P12: Canonically equivalent keys with different bytes are different keys")
    func canonicallyEquivalentKeys() throws {
        let searches = #"{"actionbar.e\#u{301}cosia":1,"actionbar.\#u{E9}cosia":2}"#
        try expect(["searches": searches])
    }
}
