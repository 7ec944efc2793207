import JSONText
import Systems
import Telemetry

@testable import Adjust

/// Reads hostile bytes as a queue of Adjust's SDK, and checks the records and the number of lost packages.
func fuzzAdjustQueue(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let source = Source(capture: "c", path: "AdjustIoPackageQueue", store: .adjustQueue, index: 0)
    guard var reader = try? AdjustQueueReader(bytes, source: source, context: AdjustContext()) else { return 0 }
    var records = 0
    var last: Record?
    while let record = reader.next() {
        precondition(record.source.index >= records, "the position of a package is wrong")
        // A package that is listed repeatedly has the same payload each time.
        if last?.payload != record.payload || last?.type != record.type { check(record) }
        last = record
        records += 1
    }
    precondition(reader.next() == nil, "the end of the queue is not final")
    precondition(records + lossCount(reader.reject) == reader.summary.packages, "packages are lost or repeated")
    if let reject = reader.reject {
        let range = reject.range(inFileOf: count)
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "the reject is outside of its file")
    }
    check(reader.summary)
    return 0
}

/// Returns the number of lost packages that a reject states.
private func lossCount(_ reject: Reject?) -> Int {
    guard let reject else { return 0 }
    precondition(reject.reason.hasPrefix("A3 "), "the reason has another case")
    return reject.reason.firstMatch(of: /first of (\d+) lost/).flatMap { Int($0.1) } ?? 1
}

/// Checks that a record is consistent, unchanged by writing, and without credentials.
private func check(_ record: Record) {
    precondition(record.id.hasPrefix("sha256:"), "the id is no hash")
    guard let payload = try? JSONDocument(record.payload), payload.kind(of: payload.root) == .object else {
        preconditionFailure("the payload is not an object")
    }
    precondition(payload.canonicalBytes(of: payload.root) == record.payload, "the payload is not canonical")
    for key in AdjustParameters.credentials + AdjustParameters.attempts {
        precondition(payload.value(of: key, in: payload.root) == nil, "the payload contains a credential")
    }
    precondition((record.target == nil) == record.held.contains(.noTarget), "the target contradicts the hold")
    precondition(record.contradiction(knowing: Systems.table) == nil, "the record contradicts itself")
    checkWriting(record)
}

/// Checks that the state of a queue can be reported.
private func check(_ summary: AdjustQueueSummary) {
    let state = summary.state(at: 0)
    precondition((state.readiness == .empty) == (summary.packages == 0), "the readiness is wrong")
    precondition(!summary.sentence(at: 0).isEmpty)
    precondition((try? JSONDocument(summary.json(at: 0).bytes)) != nil, "the state is not JSON")
}
