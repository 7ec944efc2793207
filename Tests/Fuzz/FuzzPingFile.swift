import JSONText
import Systems
import Telemetry

@testable import Mozilla

/// Reads hostile bytes as every kind of ping store, and checks the records.
func fuzzPingFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var reader = PingReader(from: pingFolder("core"))
    for type in ["core", "focus-event", "unknown"] {
        reader.origin = pingFolder(type)
        var output = ScanOutput(capture: "c")
        reader.readPingFile(bytes, into: &output)
        reader.readPingArray(bytes, into: &output)
        reader.readDatedMeasurements(bytes, into: &output)
        for record in output.records { check(record) }
        for reject in output.rejects { checkRange(reject, count) }
    }
    if let time = (try? JSONDocument(bytes))?.timeOfPingFile { precondition(time == time) }
    if let time = DecimalTime(bytes.span) { precondition(time.fraction < 1_000_000_000_000_000_000) }
    if let name = DecimalTime(pingFileName: bytes.span) { precondition(name.seconds >= 0) }
    checkTarget(String(decoding: bytes, as: UTF8.self))
    return 0
}

private func pingFolder(_ type: String) -> MozillaStoreOrigin {
    MozillaStoreOrigin(
        capture: "c", path: "p", store: .mozillaPingFile, pingTypeFromName: type, applicationID: "org.example")
}

/// Checks that a record is unchanged by writing, and that normalizing its payload again changes nothing.
private func check(_ record: Record) {
    checkWriting(record)
    precondition(record.contradiction(knowing: Systems.table) == nil, "the record contradicts itself")
    checkNormalized(record)
    if let borrowed = BorrowedFields(record) { precondition(borrowed.client == record.client) }
}

private func checkNormalized(_ record: Record) {
    let origin = MozillaStoreOrigin(capture: "c", path: "p", store: .mozillaPingFile, pingTypeFromName: record.type)
    let bare =
        Array("{\"measurements\":".utf8) + record.payload
        + Array(
            #","documentId":"x","pingType":"\#(record.type == "core" ? "core" : "focus-event")","timestamp":1,"uploadPath":""}"#
                .utf8)
    guard ["core", "focus-event"].contains(record.type) else { return }
    var reader = PingReader(from: origin)
    var output = ScanOutput(capture: "c")
    reader.readPingFile(bare, into: &output)
    // The two added levels may exceed the limit of depth. Otherwise the file must be read.
    guard let again = output.records.first else { return }
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
