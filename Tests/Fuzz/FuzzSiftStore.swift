import JSONText
import Systems
import Telemetry
import TestSupport

@testable import Sift

/// Reads hostile bytes as every file of the folder of Sift's SDK, and checks the records.
func fuzzSiftStore(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var store = SiftStore(applicationID: "org.example", comparesEvents: true)
    var pending = 0
    for file in [SiftFile.keys, .collector, .uploader, .queue(identifier: "sift-default"), .queue(identifier: "q")] {
        var found = ScanOutput(capture: "c")
        let source = Source(capture: "c", path: "p", store: file.kind, index: 0)
        withoutErrors { try store.read(bytes, of: file, part: 0, from: source, into: &found) }
        precondition(found.entries.isEmpty, "a file yields records before the store is finished")
        for reject in found.quarantined.map(\.reject) {
            let range = reject.range(inFileOf: count)
            precondition(range.lowerBound >= 0 && range.upperBound <= count, "the reject is outside of its file")
        }
    }
    let contents = store.finish()
    for part in contents.report.parts {
        let counts = part.events ?? [:]
        let settled = ["emitted", "absorbed", "skipped", "lost"].reduce(0) { $0 + (counts[$1] ?? 0) }
        precondition(counts["pending"] == settled, "the counts of events do not add up")
        pending += counts["emitted"] ?? 0
        if let queue = part.queue as? SiftQueue { check(queue) }
    }
    precondition(contents.records.reduce(0) { $0 + check($1.record) } == pending, "events are lost or repeated")
    return 0
}

/// Checks that a record is consistent and unchanged by writing.
///
/// - Returns: The number of events of the record.
private func check(_ record: Record) -> Int {
    // The depth of a payload is limited by that of the object graph.
    checkWriting(record)
    precondition(record.contradiction(knowing: Systems.table) == nil, "the record contradicts itself")
    guard let payload = try? JSONDocument(record.payload), let data = payload.value(of: "data", in: payload.root) else {
        preconditionFailure("the list request has no list")
    }
    return payload.count(of: data)
}

/// Checks that a queue remains ready as time passes.
private func check(_ queue: SiftQueue) {
    var wasReady = false
    // The last upload of a damaged queue can be at any time, even before 1970.
    for instant in [0, queue.clockTime, 1_758_600_000_000, .max].sorted() where instant >= queue.clockTime {
        let isReady = queue.readiness(at: instant)?.isReady ?? false
        precondition(isReady || !wasReady, "the queue is no longer ready")
        wasReady = isReady
        precondition(!queue.sentence(at: instant).isEmpty)
    }
    _ = queue.equalEventAcceptanceTime
}
