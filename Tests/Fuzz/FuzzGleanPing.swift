import Systems
import Telemetry

@testable import Glean

/// Reads hostile bytes as a ping file and as a database.
func fuzzGleanPing(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    _ = SafeDatabase(bytes)
    _ = BorrowedClientInfo(clientFile: bytes)
    var reader = GleanPingReader()
    for folder in [GleanPingReader.Folder.pendingPings, .unfinishedPings] {
        let source = Source(capture: "c", path: "p", store: .gleanPingFile, index: 0)
        let name = Array("0b9c7a5e-6d21-4f7b-8f0c-3e1d2a4b5c60".utf8)
        do throws(PingFileError) {
            check(try reader.record(of: bytes, GleanPingReader.File(name: name, folder: folder, source: source)))
        } catch {
            let span = error.reject.range(inFileOf: count)
            precondition(span.upperBound <= count, "the reject is outside of its file")
        }
    }
    return 0
}

/// Checks that a record is consistent, unchanged by writing, and has no header fields except for ping tags.
private func check(_ record: Record) {
    checkWriting(record)
    precondition(record.contradiction(knowing: Systems.table) == nil, "the record contradicts itself")
    precondition(record.target?.headerFields.allSatisfy(PingTags.isAllowedTag) ?? true, "the header field is not a tag")
    precondition(record.notes.count < 20, "the record has too many notes")
}
