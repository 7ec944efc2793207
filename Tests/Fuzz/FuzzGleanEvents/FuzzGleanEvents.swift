import JSONText
import Systems
import Telemetry

@testable import Glean

/// Reads hostile bytes as a file of events that are in no ping yet, and as a database.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGleanEvents(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let database = SafeDatabase(bytes) {
        precondition(database.metrics.values.reduce(0, +) <= count / 16, "more metrics than entries")
    }
    var document = JSONDocument()
    let file = PendingEventsFile(bytes, using: &document)
    checkSpans(file.rejects, count)
    let source = Source(capture: "c", path: "p", store: .gleanPendingEvents, index: 0)
    let records = PendingEventRecords.make(file, ofPing: "events", borrowed: nil, source: source)
    precondition(records.isEmpty != file.hasEvents, "events without a record, or the other way round")
    guard file.hasEvents else { return 0 }
    precondition(records.reduce(0) { $0 + events(of: $1) } == file.count, "events were lost or came twice")
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

/// How many events a record has; it is its line and back, and always held.
private func events(of record: Record) -> Int {
    precondition(record.held == [.pendingEvents] && record.target == nil)
    var line: [UInt8] = []
    record.write(to: &line)
    var document = JSONDocument()
    guard let again = try? Record(line: Array(line.dropLast()), using: &document, knowing: Systems.table),
        again == record
    else { preconditionFailure("a record changes on its way through a line") }
    guard let payload = try? JSONDocument(record.payload), let list = payload.value(of: "events", in: payload.root)
    else { preconditionFailure("a record of pending events without events") }
    precondition((1...500).contains(payload.count(of: list)), "a run that is too long")
    return payload.count(of: list)
}
