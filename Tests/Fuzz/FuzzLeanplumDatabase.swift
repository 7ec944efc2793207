import Files
import Leanplum
import SQLite

/// Reads hostile bytes as a database with a journal or a write-ahead log.
///
/// The first three bytes determine which files exist, and their lengths in units of 256 bytes.
func fuzzLeanplumDatabase(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard bytes.count > 3 else { return 0 }
    let content = bytes[3...]
    let first = content.prefix(256 * Int(bytes[1]))
    let second = content.dropFirst(first.count).prefix(256 * Int(bytes[2]))
    let hasJournal = bytes[0] & 1 != 0
    let hasLog = bytes[0] & 2 != 0
    do {
        let copy = try DatabaseCopy(
            main: spool(hasJournal || hasLog ? first : content), journal: hasJournal ? spool(second) : nil,
            writeAheadLog: hasLog ? spool(hasJournal ? content.dropFirst(first.count + second.count) : second) : nil,
            size: content.count, sizeLimit: 256 << 20)
        try read(copy)
    } catch is PrivateDatabaseError {
        return 0
    } catch {
        preconditionFailure("\(error)")
    }
    return 0
}

private func spool(_ bytes: ArraySlice<UInt8>) throws -> SpoolFile {
    let file = try SpoolFile(in: "/dev/shm")
    try file.write(Array(bytes).span, at: 0)
    return file
}

/// Checks that row ids increase, and that lost ranges are between rows.
private func read(_ copy: DatabaseCopy) throws {
    let database = try PrivateDatabase(copy, table: "event")
    guard case .success = try EventSchema.check(database) else { return }
    var table = try EventTable(database, size: copy.size)
    var last: Int64?
    var rowCount = 0
    while let item = try table.read() {
        let (from, through): (Int64, Int64?) =
            switch item {
            case .row(let rowid, _, _), .tooLarge(let rowid): (rowid, rowid)
            case .lostRows(let from, let through): (from, through)
            }
        precondition(last.map { from > $0 } ?? true, "a row is repeated")
        precondition(from <= through ?? .max, "the range is inverted")
        last = through ?? .max
        rowCount += 1
        precondition(rowCount <= 8192 + copy.size, "there are too many rows")
    }
}
