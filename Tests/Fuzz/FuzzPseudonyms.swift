import JSONText
import Systems
import Telemetry

/// A constant key, so that crashes can be reproduced.
private let key = try? PseudonymKey([UInt8](repeating: 7, count: 32))

/// Pseudonymizes a record whose payload is hostile bytes.
///
/// The first byte selects the system, and the second byte selects the type and the unit of times.
func fuzzPseudonyms(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let key, bytes.count > 2 else { return 0 }
    let system = Systems.table.all[Int(bytes[0]) % Systems.table.all.count]
    let tables = system.pseudonyms?.tables ?? []
    let types: [String] = tables.flatMap { $0.types } + ["unknown"]
    let text = Array(bytes[2...])
    let policy = JSONReadingPolicy(unpairedSurrogates: .keep)
    let document = try? JSONDocument(text, policy: policy)
    let payload = document.map { $0.canonicalBytes(of: $0.root) } ?? text
    var record = Record(
        system: system.name, type: types[Int(bytes[1]) % types.count], id: "id", client: "client",
        payload: payload, source: Source(capture: "c", path: "p", store: .harEntry, index: 0))
    let units: [TimeUnit?] = [nil, .hour, .day]
    let unit = units[Int(bytes[1]) / types.count % units.count]
    var pseudonymizer = RecordPseudonymizer(key, knowing: Systems.table, timeUnit: unit)
    guard (try? pseudonymizer.pseudonymize(&record)) != nil else { preconditionFailure("the record is rejected") }
    guard let rewritten = try? JSONDocument(record.payload, policy: policy) else {
        preconditionFailure("the output is not JSON")
    }
    precondition(rewritten.kind(of: rewritten.root) == .object, "the output is not an object")
    precondition(rewritten.canonicalBytes(of: rewritten.root) == record.payload, "the output is not canonical")
    checkIDs(of: payload, in: record.payload)
    let first = record
    guard (try? pseudonymizer.pseudonymize(&record)) != nil else { preconditionFailure("the output is rejected") }
    precondition(record == first, "pseudonymizing is not idempotent")
    return 0
}

/// Checks that no UUID of the payload is in the output.
private func checkIDs(of payload: [UInt8], in rewritten: [UInt8]) {
    let ids = uuids(in: payload)
    precondition(ids.isDisjoint(with: uuids(in: rewritten)), "the output contains an original UUID")
}

/// Returns the UUIDs in `bytes`, in lower case.
private func uuids(in bytes: [UInt8]) -> Set<[UInt8]> {
    var found: Set<[UInt8]> = []
    guard bytes.count >= 36 else { return found }
    for start in 0...(bytes.count - 36) where bytes[start + 8] == UInt8(ascii: "-") {
        let text = Array(bytes[start..<start + 36])
        if text.span.isUUID { found.insert(text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }) }
    }
    return found
}
