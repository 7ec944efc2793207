import JSONText
import Leanplum
import Systems
import Telemetry
import TestSupport

private let secret = RunSecret.ofTests

/// Reads hostile bytes as the items of a Leanplum store: the first one tells of which kind.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLeanplumRows(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let kind = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    let source = Source(capture: "c", path: "p", store: .leanplumSQLite, index: 0)
    var output = ScanOutput(capture: "c")
    switch kind % 4 {
    case 0: readRows(rest, from: source, into: &output)
    case 1:
        var requests = smallRequests(from: source)
        requests.append(blob: rest, rowid: 1, into: &output)
        requests.finish(into: &output)
        precondition(output.records.count + output.rejects.count == 1, "a BLOB is neither record nor reject")
    case 2:
        let requests = LeanplumRequests(from: source, applicationID: "app_x", secret: secret)
        LeanplumPropertyList.readRequests(rest, adding: requests, into: &output)
    default: LeanplumPropertyList.readDefaults(rest, from: source, secret: secret, into: &output)
    }
    for record in output.records { check(record) }
    return 0
}

/// Returns requests whose records end early.
private func smallRequests(from source: Source) -> LeanplumRequests {
    var requests = LeanplumRequests(from: source, applicationID: "app_x", secret: secret)
    requests.limits.requests = 3
    requests.limits.bytes = 4096
    return requests
}

/// Every row is in a record, in quarantine, or noted as a duplicate.
private func readRows(_ bytes: [UInt8], from source: Source, into output: inout ScanOutput) {
    let rows = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    var requests = smallRequests(from: source)
    for (index, row) in rows.enumerated() { requests.append(Array(row), rowid: Int64(index), into: &output) }
    requests.finish(into: &output)
    precondition(requests.count == rows.count, "rows were counted wrongly")
    guard output.rejects.count <= 100 else { return }
    let kept = output.records.reduce(0) { $0 + requestCount(of: $1) }
    let duplicates = output.records.reduce(0) { $0 + $1.notes.count { $0.hasPrefix("duplicate_request@") } }
    precondition(kept + output.rejects.count <= rows.count, "a row came out twice")
    precondition(kept + output.rejects.count + duplicates >= rows.count || output.records.isEmpty, "a row was lost")
}

private func requestCount(of record: Record) -> Int {
    guard let document = try? JSONDocument(record.payload), let list = document.value(of: "data", in: document.root)
    else { preconditionFailure("a payload without requests") }
    return document.count(of: list)
}

/// A record has at least one request, is its line and back, and contradicts nothing.
private func check(_ record: Record) {
    precondition((1...10_000).contains(requestCount(of: record)), "a record of no requests")
    precondition(record.contradiction(knowing: Systems.table) == nil && record.held.isEmpty)
    var line: [UInt8] = []
    record.write(to: &line)
    var document = JSONDocument()
    guard let again = try? Record(line: Array(line.dropLast()), using: &document, knowing: Systems.table)
    else {
        preconditionFailure("a record's own line is refused")
    }
    precondition(again == record, "a record changes on its way through a line")
}
