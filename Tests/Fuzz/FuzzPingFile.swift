import JSONText
import Systems
import Telemetry
import TestSupport

@testable import Mozilla

/// Reads hostile bytes as every kind of ping store, and checks the records.
func fuzzPingFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    for type in ["core", "focus-event", "unknown"] {
        for format in [PingReader.Format.pingFile, .array, .datedMeasurements] {
            let output = read(bytes, format, type)
            for record in output.records { check(record) }
            for reject in output.rejects { checkRange(reject, count) }
        }
    }
    if let time = (try? JSONDocument(bytes))?.timeOfPingFile { precondition(time == time) }
    if let time = DecimalTime(bytes.span) { precondition(time.fraction < 1_000_000_000_000_000_000) }
    if let name = DecimalTime(pingFileName: bytes.span) { precondition(name.seconds >= 0) }
    checkTarget(String(decoding: bytes, as: UTF8.self))
    return 0
}

private func read(_ bytes: [UInt8], _ format: PingReader.Format, _ type: String) -> ScanOutput {
    var reader = PingReader(format, pingTypeFromName: type, applicationID: "org.example")
    var output = ScanOutput(capture: "c")
    let source = Source(capture: "c", path: "p", store: .mozillaPingFile, index: 0)
    while withoutErrors({ try reader.read(bytes, ofFile: 0, from: source, into: &output) }) { output.removeAll() }
    return output
}

/// Checks that a record is unchanged by writing, and that normalizing its payload again changes nothing.
private func check(_ record: Record) {
    checkWriting(record)
    precondition(record.contradiction(knowing: Systems.table) == nil, "the record contradicts itself")
    checkNormalized(record)
    if let borrowed = BorrowedFields(record) { precondition(borrowed.client == record.client) }
}

private func checkNormalized(_ record: Record) {
    let bare =
        Array("{\"measurements\":".utf8) + record.payload
        + Array(
            #","documentId":"x","pingType":"\#(record.type == "core" ? "core" : "focus-event")","timestamp":1,"uploadPath":""}"#
                .utf8)
    guard ["core", "focus-event"].contains(record.type) else { return }
    // The two added levels may exceed the limit of depth. Otherwise the file must be read.
    guard let again = read(bare, .pingFile, record.type).records.first else { return }
    precondition(again.payload == record.payload, "normalizing is not idempotent")
}

private func checkRange(_ reject: Reject, _ count: Int) {
    let range = reject.range(inFileOf: count)
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "the reject is outside of its file")
}

/// Checks that a known target does not lead to another host or leave the server's path for pings.
private func checkTarget(_ path: String) {
    let target = Target(path: path)
    guard Systems.table.isKnown(target, to: .mozilla) else { return }
    precondition(path.utf8.starts(with: "/submit/telemetry/".utf8))
    precondition(!path.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0x5C })
    let parts = path.utf8.prefix { $0 != UInt8(ascii: "?") }.split(separator: UInt8(ascii: "/"))
    precondition(parts.count == 8 && !parts.contains { $0.elementsEqual("..".utf8) })
}
