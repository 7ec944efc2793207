import JSONText
import Systems
import Telemetry

@testable import Mozilla

/// Reads hostile bytes as a pending event file and as stored values.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPendingEvents(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var file = PendingEventFile(bytes)
    let pending = file.read()
    checkSpans(pending.rejects, count)
    check(pending, client: nil, isClientInFile: false)
    if let values = try? StoredValues(bytes) {
        for (_, events) in values.pending { check(events, client: values.client, isClientInFile: true) }
    }
    return 0
}

/// Rejects come in the order of the file, do not overlap and lie in it.
private func checkSpans(_ rejects: [Reject], _ count: Int) {
    var end = 0
    for reject in rejects {
        guard let offset = reject.offset, let length = reject.length else {
            preconditionFailure("a reject without place")
        }
        precondition(offset >= end && length > 0, "rejects overlap or are empty")
        end = offset + length
        precondition(end <= count, "a reject lies outside of its file")
    }
}

/// Every event is in exactly one record; a record is its line and back, and is always held.
private func check(_ pending: PendingEvents, client: String?, isClientInFile: Bool) {
    let origin = MozillaStoreOrigin(capture: "c", path: "p", store: .mozillaPendingEvents, typeInName: "focus-event")
    let records = PendingEventRecords.make(
        pending, borrowed: nil, client: client, isClientInFile: isClientInFile, from: origin)
    var events = 0
    for record in records {
        precondition(record.held == [.pendingEvents] && record.target == nil)
        var line: [UInt8] = []
        record.write(to: &line)
        var document = JSONDocument()
        guard let again = try? Record(line: Array(line.dropLast()), using: &document, knowing: Systems.table)
        else {
            preconditionFailure("a record's own line is refused")
        }
        precondition(again == record, "a record changes on its way through a line")
        guard let payload = try? JSONDocument(record.payload), let list = payload.value(of: "events", in: payload.root)
        else { preconditionFailure("a record of pending events without events") }
        events += payload.count(of: list)
    }
    precondition(events == pending.events.count, "events were lost or came twice")
}
