import Files
import Systems
import Telemetry
import TestSupport

@testable import Capture

/// Reads hostile bytes as NDJSON, and checks that the written records are read back unchanged.
func fuzzNDJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let lines = read(bytes)
    precondition(read(lines) == lines, "the records change when they are written and read")
    return 0
}

private func read(_ bytes: [UInt8]) -> [UInt8] {
    let log = RequestLog(ByteSource(bytes), kind: .lines, label: "c", path: "p", systems: Systems.table)
    let scan = RequestLogScan(log)
    var output = ScanOutput(capture: "c")
    var lines: [UInt8] = []
    var end = 0
    var hasMore = true
    while hasMore {
        hasMore = withoutErrors { try output.fill { try scan.read(into: &$0) } }
        for record in output.records { record.write(to: &lines) }
        for item in output.quarantined {
            precondition(!item.isStored, "the bytes of a log are stored")
            guard let offset = item.reject.offset, let length = item.reject.length else { continue }
            precondition(offset >= end && length >= 0, "the rejects overlap")
            end = offset + length
        }
        output.removeAll()
    }
    return lines
}
