import JSONText
import Telemetry

@testable import Glean

/// Reads hostile bytes as a file of pending events and as a database.
func fuzzGleanEvents(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    if let database = SafeDatabase(bytes) {
        precondition(database.metricCounts.values.reduce(0, +) <= count / 16, "there are more metrics than entries")
    }
    var document = JSONDocument()
    let file = PendingEventsFile(bytes, using: &document)
    checkSpans(file.rejects, count)
    let source = Source(capture: "c", path: "p", store: .gleanPendingEvents, index: 0)
    let records = PendingEventRecords.makeRecords(of: file, ofPing: "events", borrowed: nil, source: source)
    precondition(records.isEmpty != file.hasEvents, "there are events without records, or records without events")
    guard file.hasEvents else { return 0 }
    precondition(records.reduce(0) { $0 + events(of: $1) } == file.eventCount, "events are lost or repeated")
    return 0
}

/// Returns the number of events of a record, after checking that the record is held and unchanged by writing.
private func events(of record: Record) -> Int {
    precondition(record.held == [.pendingEvents] && record.target == nil)
    checkWriting(record)
    guard let payload = try? JSONDocument(record.payload), let list = payload.value(of: "events", in: payload.root)
    else { preconditionFailure("the record has no events") }
    precondition((1...500).contains(payload.count(of: list)), "the record has too many events")
    return payload.count(of: list)
}
