import Telemetry
import TestSupport
import Testing

@testable import Mozilla

extension Source {
    /// Returns the source of a ping file in a folder named after a ping type.
    static func folder(_ type: String) -> Source {
        Source(
            capture: "capture", path: "Documents/MozTelemetry-Default-\(type)/-t-1527163208.41924.json",
            store: .mozillaPingFile, index: 0)
    }

    /// Returns the source of a ping array named after a ping type.
    static func array(_ type: String) -> Source {
        Source(
            capture: "capture", path: "Documents/MozTelemetry-Default-\(type).json", store: .mozillaPingArray, index: 0)
    }
}

extension PingReader {
    /// Returns the findings in a file.
    mutating func findings(in bytes: [UInt8], from source: Source) -> ScanOutput {
        var output = ScanOutput(capture: "c")
        let hasMore = withoutErrors { try read(bytes, ofFile: 0, from: source, into: &output) }
        #expect(!hasMore)
        return output
    }
}

func decimalTime(pingFileName name: String) -> DecimalTime? { DecimalTime(pingFileName: name.utf8.span) }

func readPingFile(_ text: String, in folder: String = "core") -> ScanOutput {
    readPingFile(Array(text.utf8), in: folder)
}

func readPingFile(_ bytes: [UInt8], in folder: String = "core") -> ScanOutput {
    var reader = PingReader(.pingFile, pingTypeFromName: folder)
    return reader.findings(in: bytes, from: .folder(folder))
}

func readPingArray(_ text: String, named type: String = "core") -> ScanOutput {
    var reader = PingReader(.array, pingTypeFromName: type)
    return reader.findings(in: Array(text.utf8), from: .array(type))
}

/// Checks that a ping file becomes one record with the facts in its envelope and the expected payload.
///
/// - Parameters:
///   - type: The type of the ping.
///   - stored: The differences between the usual measurements and the stored measurements.
///   - changed: The differences between the stored measurements and the payload.
///   - notes: The codes of the expected notes.
///   - held: The codes of the expected holds.
///   - sourceLocation: The location to report failures at.
/// - Throws: `ExpectationFailedError` if the file has no record.
func expect(
    _ type: String, _ stored: StoredJSON.Changes, becomes changed: StoredJSON.Changes = [:],
    notes: [String] = [], held: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let text = StoredJSON.envelope(type, StoredJSON.measurements(type, stored))
    let extraction = readPingFile(text, in: type)
    #expect(extraction.rejects == [], sourceLocation: sourceLocation)
    let record = try #require(extraction.records.first, sourceLocation: sourceLocation)
    #expect(extraction.records.count == 1, sourceLocation: sourceLocation)
    #expect(record.text == StoredJSON.measurements(type, stored, changed), sourceLocation: sourceLocation)
    #expect(record.noteCodes == notes, sourceLocation: sourceLocation)
    #expect(record.heldCodes == held, sourceLocation: sourceLocation)
    #expect(record.type == type, sourceLocation: sourceLocation)
    #expect(record.id == StoredJSON.documentID, sourceLocation: sourceLocation)
    #expect(record.time?.description == "2018-05-24T12:00:08.418Z", sourceLocation: sourceLocation)
    #expect(record.target == Target(path: StoredJSON.uploadPath(type)), sourceLocation: sourceLocation)
    #expect(
        record.app == App(name: "Focus", version: "5.0", channel: "release", build: "2"),
        sourceLocation: sourceLocation)
    #expect(extraction.problems == [], sourceLocation: sourceLocation)
}

/// Checks that the file of a core ping becomes one record.
func expect(
    _ stored: StoredJSON.Changes, becomes changed: StoredJSON.Changes = [:], notes: [String] = [], held: [String] = [],
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    try expect("core", stored, becomes: changed, notes: notes, held: held, sourceLocation: sourceLocation)
}

/// Checks that the usual measurements in a changed envelope become one record, and returns the record.
func expectRecord(
    envelope changes: StoredJSON.Changes, notes: [String] = [], held: [String] = [],
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> Record {
    let extraction = readPingFile(StoredJSON.envelope("core", StoredJSON.measurements("core"), changes))
    #expect(extraction.rejects == [], sourceLocation: sourceLocation)
    let record = try #require(extraction.records.first, sourceLocation: sourceLocation)
    #expect(record.text == StoredJSON.measurements("core"), sourceLocation: sourceLocation)
    #expect(record.noteCodes == notes, sourceLocation: sourceLocation)
    #expect(record.heldCodes == held, sourceLocation: sourceLocation)
    return record
}
