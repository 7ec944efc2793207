import JSONText
import Systems
import Telemetry

/// Checks that a record is unchanged when it is written and read.
func checkWriting(_ record: Record) {
    var line: [UInt8] = []
    let payload = record.write(to: &line).payload
    precondition(Array(line[payload]) == record.payload, "the reported range of the payload is wrong")
    var document = JSONDocument()
    guard let again = try? Record(line: Array(line.dropLast()), using: &document, knowing: Systems.table) else {
        preconditionFailure("the written record is rejected")
    }
    precondition(again == record, "the record changes when it is written and read")
}

/// Checks that rejects are in the order of the file, do not overlap, and are within the file, which has `count` bytes.
func checkSpans(_ rejects: [Reject], _ count: Int) {
    var end = 0
    for reject in rejects {
        guard let offset = reject.offset, let length = reject.length else {
            preconditionFailure("the reject has no range")
        }
        precondition(offset >= end && length > 0, "the rejects overlap or are empty")
        end = offset + length
        precondition(end <= count, "the reject is outside of its file")
    }
}
