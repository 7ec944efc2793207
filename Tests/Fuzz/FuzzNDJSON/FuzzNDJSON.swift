import Bundle
import Capture
import JSONText
import Telemetry

/// Reads hostile bytes as NDJSON: what comes out is records whose own lines come out unchanged when they are read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNDJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let lines = read(bytes)
    precondition(read(lines) == lines, "records change on their way through their lines")
    return 0
}

private func read(_ bytes: [UInt8]) -> [UInt8] {
    let options = HarvestOptions(filter: RecordFilter(), secret: RunSecret(identity: 3, content: 5))
    var lines: [UInt8] = []
    var end = 0
    RequestLog(ByteSource(bytes), kind: .lines, label: "c", path: "p").read(input: 0, options) { batch in
        lines += batch.lines
        for item in batch.quarantined.map(\.item) {
            precondition(!item.isStored, "bytes of a log would be carried along")
            guard let offset = item.reject.offset, let length = item.reject.length else { continue }
            precondition(offset >= end && length >= 0, "rejects overlap")
            end = offset + length
        }
    }
    return lines
}
