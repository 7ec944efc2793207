import JSONText
import Telemetry
import TestSupport
import Testing

@testable import Mozilla

/// Tests the cases P13 to P22 of unusual envelopes (section 2.5 of the format document).
@Suite struct EnvelopeCaseTests {
    @Test("P13: Unknown keys of an envelope are dropped with one note each")
    func unknownKeys() throws {
        let record = try expectRecord(
            envelope: ["uploadAttempts": "3", "A": #"{"a":[1]}"#, "zz": "null"], notes: ["P13", "P13", "P13"])
        #expect(
            record.notes.map { $0.contains("A:") || $0.contains("uploadAttempts:") || $0.contains("zz:") }
                == [true, true, true])
    }

    @Test("P14: Differences between folder, ping type and path are noted")
    func disagreement() throws {
        let envelope = StoredJSON.envelope(
            "focus-event", StoredJSON.measurements("focus-event"),
            ["uploadPath": "\"\(StoredJSON.uploadPath("mobile-event"))\""])
        let record = try #require(readPingFile(envelope, in: "core").records.first)
        #expect(record.type == "focus-event")
        #expect(record.target?.path == StoredJSON.uploadPath("mobile-event"))
        #expect(record.noteCodes == ["P14", "P14"])
        #expect(record.held == [])
        let inFolder = try #require(readPingFile(envelope, in: "focus-event").records.first)
        #expect(inFolder.noteCodes == ["P14"])
    }

    @Test("P14: A path with another document id is noted")
    func otherDocumentID() throws {
        let path = StoredJSON.uploadPath("core", documentID: "9B0D6E0A-51B3-4F0B-8A3B-6C1B5A6E9D02")
        let record = try expectRecord(envelope: ["uploadPath": "\"\(path)\""], notes: ["P14"])
        #expect(record.id == StoredJSON.documentID)
        #expect(record.target?.path == path)
    }

    @Test(
        "P15: The timestamp is used if the name of the file contains no time",
        arguments: ["-t-1527163208.41924 (1).json", "-t-1.2.3.json", "copy.json", "zz-t-.json"])
    func nameWithoutTime(name: String) throws {
        #expect(decimalTime(pingFileName: name) == nil)
        func time(_ text: String) -> DecimalTime? { (try? JSONDocument(Array(text.utf8)))?.timeOfPingFile }
        let envelope = StoredJSON.envelope("core", StoredJSON.measurements("core"))
        let expected = decimalTime("1527163208.4180789")
        #expect(time(envelope) == expected)
        #expect(time("[\(envelope),{}]") == expected)
        #expect(time("[") == nil)
        #expect(time("[]") == nil)
    }

    @Test(
        "P16: A time that RFC 3339 cannot express is null in the record",
        arguments: [
            ("0", "1970-01-01T00:00:00.000Z"), ("12.25", "1970-01-01T00:00:12.250Z"),
            ("946684800.25", "2000-01-01T00:00:00.250Z"), ("4102444800.125", "2100-01-01T00:00:00.125Z"),
            ("253402300799.9999", "9999-12-31T23:59:59.999Z"), ("253402300800", nil), ("253402300800.5", nil),
            ("-0.001", nil), ("-1527163208", nil), ("9223372036854775.9", nil), ("9223372036854775807", nil),
            ("99999999999999999999999.5", nil), ("1e400", nil), ("-1e400", nil), ("1e-400", "1970-01-01T00:00:00.000Z"),
        ])
    func unusualTimes(timestamp: String, time: String?) throws {
        let record = try expectRecord(envelope: ["timestamp": timestamp])
        #expect(record.time?.description == time)
    }

    @Test("P22: A byte order mark is ignored, and other encodings are named")
    func byteOrderMark() throws {
        let envelope = StoredJSON.envelope("core", StoredJSON.measurements("core"))
        let marked = readPingFile("\u{FEFF}\(envelope)")
        #expect(marked.records.map(\.noteCodes) == [["P22"]])
        #expect(readPingArray("\u{FEFF}[\(envelope)]").records.map(\.noteCodes) == [["P22"]])
        #expect(readPingFile("\u{FEFF}{} x").refused == [RejectSummary("json", at: 6)])
        for mark in [[0xFF, 0xFE], []] as [[UInt8]] {
            let extraction = readPingFile(
                mark + envelope.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] as [UInt8] })
            #expect(extraction.refused == [RejectSummary("P22")])
        }
    }

    @Test("P17: A file with a temporary name is read by its contents")
    func temporaryName() throws {
        let name = "-t-1527163208.41924.json.sb-5c1f0a2e-Qx7aLb"
        #expect(decimalTime(pingFileName: name) == nil)
        var source = Source.folder("core")
        source.path = "Documents/MozTelemetry-Default-core/\(name)"
        var reader = PingReader(.pingFile, pingTypeFromName: "core")
        let text = StoredJSON.envelope("core", StoredJSON.measurements("core"))
        let extraction = reader.findings(in: Array(text.utf8), from: source)
        #expect(extraction.records.map(\.source.path) == [source.path])
        #expect(extraction.records.map(\.notes) == [[]])
    }

    @Test("P18: Numbers in other spellings have the same value")
    func numberSpellings() throws {
        let measurements = StoredJSON.measurements("core", ["v": "7.0", "seq": "1.2e1"])
        let text = StoredJSON.envelope("core", measurements, ["timestamp": "1.5271632084180789e9"])
        let record = try #require(readPingFile(text).records.first)
        #expect(record.time?.description == "2018-05-24T12:00:08.418Z")
        #expect(record.text == StoredJSON.measurements("core"))
        #expect(record.noteCodes == ["C1", "C1"])
    }

    @Test(
        "P19: A path that needs encoding is kept as stored",
        arguments: ["Firefox Klar", "Feuerfuchs \u{C4}", "\u{1F98A}"])
    func pathToEncode(name: String) throws {
        let path = "/submit/telemetry/\(StoredJSON.documentID)/core/\(name)/5.0/release/2?v=4"
        let record = try expectRecord(envelope: ["uploadPath": "\"\(path)\""])
        #expect(record.target == Target(path: path))
        #expect(record.app == App(name: name, version: "5.0", channel: "release", build: "2"))
    }

    @Test("P20: A path without a query is kept as stored")
    func pathWithoutQuery() throws {
        let path = "/submit/telemetry/\(StoredJSON.documentID)/core/Focus/5.0/release/2"
        let record = try expectRecord(envelope: ["uploadPath": "\"\(path)\""])
        #expect(record.target == Target(path: path))
    }

    @Test("P21: An undocumented null among the measurements is removed")
    func nullInside() throws {
        try expect(["searches": "null"], becomes: ["searches": nil], notes: ["C8"])
        try expect("focus-event", ["device": "null"], becomes: ["device": nil], notes: ["C8"])
    }

    @Test("A path outside the grammar contains neither a target nor an app")
    func foreignPath() throws {
        let record = try expectRecord(
            envelope: ["uploadPath": #""\/\/telemetry.example\/submit""#], notes: ["no-target"], held: ["no-target"])
        #expect(record.target == nil)
        #expect(record.app == nil)
        #expect(record.notes.allSatisfy { $0.hasSuffix(": //telemetry.example/submit") })
    }

    @Test("The bundle id of the app container is added to the app")
    func applicationID() throws {
        var reader = PingReader(.pingFile, pingTypeFromName: "core", applicationID: "org.mozilla.ios.Focus")
        var records: [Record] = []
        for path in [StoredJSON.uploadPath("core"), "/other"] {
            let text = StoredJSON.envelope(
                "core", StoredJSON.measurements("core"), ["uploadPath": "\"\(path)\""])
            records += reader.findings(in: Array(text.utf8), from: .folder("core")).records
        }
        #expect(
            records.map(\.app) == [
                App(id: "org.mozilla.ios.Focus", name: "Focus", version: "5.0", channel: "release", build: "2"),
                App(id: "org.mozilla.ios.Focus"),
            ])
    }

    @Test("The pings of an array are sorted by timestamp, and otherwise keep their order")
    func arrayOrder() {
        func element(_ timestamp: String) -> String {
            StoredJSON.envelope("core", StoredJSON.measurements("core"), ["timestamp": timestamp])
        }
        let elements = ["2.5", "2.50", #""2.25""#, "1e1", "2.4999999", "-3"].map(element)
        let text = "[\(elements.joined(separator: ",")),{}]"
        let extraction = readPingArray(text)
        #expect(extraction.records.map(\.source.index) == [5, 2, 4, 0, 1, 3])
        #expect(extraction.records.map(\.source.store) == Array(repeating: .mozillaPingArray, count: 6))
        #expect(extraction.refused == [RejectSummary("P5", at: text.utf8.count - 3, length: 2)])
    }
}
