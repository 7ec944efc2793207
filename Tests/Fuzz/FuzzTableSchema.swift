import Bytes
import JSONText
import LiveTables

@testable import Export

/// Reads hostile bytes as the schema of a live table and, after a zero byte, a payload whose row is made.
///
/// The row and what has no column must be objects, and the row must contain only documented columns.
func fuzzTableSchema(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard let columns = columns(in: Array(parts[0])), parts.count == 2,
        let payload = try? JSONDocument(Array(parts[1]))
    else { return 0 }
    var transform = RowTransform()
    do {
        try transform.add(payload, columns)
        try transform.finish(columns)
    } catch { return 0 }
    let names = Set(columns.sorted.map { Array($0.name.utf8) })
    let row = object(transform.row)
    for position in 0..<row.memberCount(of: row.root) {
        let name = row.bytes(of: row.member(at: position, of: row.root).key).copied()
        precondition(names.contains(name), "the row has a column that the schema lacks")
    }
    _ = object(transform.rest)
    return 0
}

/// Returns the columns of a schema, whose errors must be in the file.
private func columns(in schema: [UInt8]) -> TableColumns? {
    do throws(TableSchemaError) {
        return try TableSchema.columns(in: schema)
    } catch {
        precondition(error.offset <= schema.count, "the error is not in the file")
        return nil
    }
}

private func object(_ text: Span<UInt8>) -> JSONDocument {
    guard let document = try? JSONDocument(text.copied()), document.kind(of: document.root) == .object else {
        preconditionFailure("the transform does not write an object")
    }
    return document
}
