import JSONText
import Systems
import Telemetry

@testable import Sift

/// Reads hostile bytes as every file of a folder of Sift's SDK and checks what must hold of the records.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSiftStore(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var store = SiftStore(capture: "c", applicationID: "org.example", comparesEvents: true)
    var pending = 0
    for file in [SiftFile.keys, .collector, .uploader, .queue(identifier: "sift-default"), .queue(identifier: "q")] {
        var found = ScanOutput(capture: "c", path: "p")
        store.read(bytes, of: file, part: 0, into: &found)
        precondition(found.records.isEmpty, "records come at the end")
        for reject in found.rejects {
            let range = reject.range(inFileOf: count)
            precondition(range.lowerBound >= 0 && range.upperBound <= count, "a reject lies outside of its file")
        }
    }
    let contents = store.finish()
    for part in contents.report.parts {
        let counts = part.events ?? [:]
        let settled = ["emitted", "absorbed", "skipped", "lost"].reduce(0) { $0 + (counts[$1] ?? 0) }
        precondition(counts["pending"] == settled, "events do not add up")
        pending += counts["emitted"] ?? 0
        if let queue = part.queue as? SiftQueue { check(queue) }
    }
    precondition(contents.found.reduce(0) { $0 + check($1.record) } == pending, "events were lost or came twice")
    return 0
}

/// A record is its line and back, its payload canonical.
/// - Returns: how many events it has.
private func check(_ record: Record) -> Int {
    var line: [UInt8] = []
    record.write(to: &line)
    var document = JSONDocument()
    // A payload may be nested as deep as a graph may, and no deeper.
    guard let again = try? Record(line: Array(line.dropLast()), using: &document, knowing: Systems.table)
    else {
        preconditionFailure("a record's own line is refused")
    }
    precondition(again == record, "a record changes on its way through a line")
    precondition(record.contradiction(knowing: Systems.table) == nil, "a record contradicts itself")
    guard let payload = try? JSONDocument(record.payload), let data = payload.value(of: "data", in: payload.root) else {
        preconditionFailure("a list request without a list")
    }
    return payload.count(of: data)
}

/// A queue that is ready stays so, as time passes.
private func check(_ queue: SiftQueue) {
    var wasReady = false
    // The clock of a damaged queue can be at any time, before 1970 too.
    for instant in [0, queue.clockTime, 1_758_600_000_000, .max].sorted() where instant >= queue.clockTime {
        let isReady = queue.readiness(at: instant)?.isReady ?? false
        precondition(isReady || !wasReady, "a queue is ready no more")
        wasReady = isReady
        precondition(!queue.sentence(at: instant).isEmpty)
    }
    _ = queue.equalEventAcceptanceTime
}
