import JSONText
import Leanplum
import Systems
import Telemetry
import TestSupport

/// Reads hostile bytes as items of a Leanplum store.
///
/// The first byte selects the kind of store.
func fuzzLeanplumRows(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    let source = Source(capture: "c", path: "p", store: .leanplumSQLite, index: 0)
    var output = ScanOutput(capture: "c")
    switch kind % 4 {
    case 0: readRows(rest, from: source, into: &output)
    case 1:
        var requests = smallRequests(from: source)
        withoutErrors { try requests.append(blob: rest, rowid: 1, into: &output) }
        withoutErrors { try requests.finish(into: &output) }
        precondition(output.records.count + output.rejects.count == 1, "the BLOB is neither a record nor a reject")
    case 2:
        let requests = LeanplumRequests(from: source, applicationID: "app_x")
        withoutErrors { try LeanplumPropertyList.readRequests(rest, adding: requests, into: &output) }
    default: withoutErrors { try LeanplumPropertyList.readDefaults(rest, from: source, into: &output) }
    }
    for record in output.records { check(record) }
    return 0
}

/// Returns requests whose records end early.
private func smallRequests(from source: Source) -> LeanplumRequests {
    LeanplumRequests(
        from: source, applicationID: "app_x", limits: LeanplumRequests.Limits(requestCount: 3, byteCount: 4096))
}

/// Checks that every row is in a record, in quarantine, or noted as a duplicate.
private func readRows(_ bytes: [UInt8], from source: Source, into output: inout ScanOutput) {
    let rows = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    var requests = smallRequests(from: source)
    for (index, row) in rows.enumerated() {
        withoutErrors { try requests.append(Array(row), rowid: Int64(index), into: &output) }
    }
    withoutErrors { try requests.finish(into: &output) }
    precondition(requests.itemCount == rows.count, "the number of rows is wrong")
    guard output.rejects.count <= 100 else { return }
    let kept = output.records.reduce(0) { $0 + requestCount(of: $1) }
    let duplicates = output.records.reduce(0) { $0 + $1.notes.count { $0.hasPrefix("duplicate_request@") } }
    precondition(kept + output.rejects.count <= rows.count, "a row is repeated")
    precondition(kept + output.rejects.count + duplicates >= rows.count || output.records.isEmpty, "a row is lost")
}

private func requestCount(of record: Record) -> Int {
    guard let document = try? JSONDocument(record.payload), let list = document.value(of: "data", in: document.root)
    else { preconditionFailure("the payload has no requests") }
    return document.count(of: list)
}

/// Checks that a record has at least one request, is consistent, and is unchanged by writing.
private func check(_ record: Record) {
    precondition((1...10_000).contains(requestCount(of: record)), "the number of requests is out of range")
    precondition(record.contradiction(knowing: Systems.table) == nil && record.held.isEmpty)
    checkWriting(record)
}
