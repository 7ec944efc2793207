import JSONText
import Telemetry

@testable import Mozilla

/// Reads hostile bytes as a pending event file and as stored values.
func fuzzPendingEvents(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var file = PendingEventFile(bytes)
    let pending = file.read()
    if let reject = pending.rejects.first, reject.offset == nil {
        precondition(pending.rejects.count == 1 && pending.events.count == 0, "the file is not rejected as a whole")
    } else {
        checkSpans(pending.rejects, count)
    }
    check(pending, client: nil, isClientInFile: false)
    if let values = try? StoredValues(bytes) {
        for (_, events) in values.pendingEvents { check(events, client: values.clientID, isClientInFile: true) }
    }
    return 0
}

/// Checks that every event is in exactly one record, and that records are held and unchanged by writing.
private func check(_ pending: PendingEvents, client: String?, isClientInFile: Bool) {
    let source = Source(capture: "c", path: "p", store: .mozillaPendingEvents, index: 0)
    let records = PendingEventRecords.makeRecords(
        of: pending, type: "focus-event", borrowed: nil, client: client, isClientInFile: isClientInFile,
        applicationID: nil, from: source)
    var events = 0
    for record in records {
        precondition(record.held == [.pendingEvents] && record.target == nil)
        checkWriting(record)
        guard let payload = try? JSONDocument(record.payload), let list = payload.value(of: "events", in: payload.root)
        else { preconditionFailure("the record has no events") }
        events += payload.count(of: list)
    }
    precondition(events == pending.events.count, "events are lost or repeated")
}
