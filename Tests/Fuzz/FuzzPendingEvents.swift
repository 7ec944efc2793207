import JSONText
import Systems
import Telemetry

@testable import Mozilla

/// Reads hostile bytes as a pending event file and as stored values.
func fuzzPendingEvents(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var file = PendingEventFile(bytes)
    let pending = file.read()
    checkSpans(pending.rejects, count)
    check(pending, client: nil, isClientInFile: false)
    if let values = try? StoredValues(bytes) {
        for (_, events) in values.pendingEvents { check(events, client: values.clientID, isClientInFile: true) }
    }
    return 0
}

/// Checks that rejects are in the order of the file, do not overlap, and are within the file.
private func checkSpans(_ rejects: [Reject], _ count: Int) {
    var end = 0
    for reject in rejects {
        guard let offset = reject.offset, let length = reject.length else {
            preconditionFailure("the reject has no range")
        }
        precondition(offset >= end && length > 0, "the rejects overlap or are empty")
        end = offset + length
        precondition(end <= count, "the reject is outside of its file")
    }
}

/// Checks that every event is in exactly one record, and that records are held and unchanged by writing.
private func check(_ pending: PendingEvents, client: String?, isClientInFile: Bool) {
    let origin = MozillaStoreOrigin(
        capture: "c", path: "p", store: .mozillaPendingEvents, pingTypeFromName: "focus-event")
    let records = PendingEventRecords.makeRecords(
        of: pending, borrowed: nil, client: client, isClientInFile: isClientInFile, from: origin)
    var events = 0
    for record in records {
        precondition(record.held == [.pendingEvents] && record.target == nil)
        var line: [UInt8] = []
        record.write(to: &line)
        var document = JSONDocument()
        guard let again = try? Record(line: Array(line.dropLast()), using: &document, knowing: Systems.table)
        else {
            preconditionFailure("the written record is rejected")
        }
        precondition(again == record, "the record changes when it is written and read")
        guard let payload = try? JSONDocument(record.payload), let list = payload.value(of: "events", in: payload.root)
        else { preconditionFailure("the record has no events") }
        events += payload.count(of: list)
    }
    precondition(events == pending.events.count, "events are lost or repeated")
}
