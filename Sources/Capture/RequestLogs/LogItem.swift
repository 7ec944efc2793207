import Telemetry

/// A finding in a request log, and its location in the decompressed text.
struct LogItem: Sendable {
    var finding: LogFinding
    /// Whether the finding is a payload, so that it is numbered if it equals another one without an ID and a time.
    var isPayload = false
    /// The offset of the first byte, or `nil` if the finding concerns the whole file.
    let start: Int?
    let end: Int?
}

/// An entry or a line of a request log before it is parsed, or a fault in the log.
struct RawLogItem: Sendable {
    enum Contents: Sendable {
        case text([UInt8], index: Int)
        case fault(String)
    }

    let contents: Contents
    /// The offset of the first byte, or `nil` if a fault concerns the whole file.
    let start: Int?
    let end: Int?

    /// The approximate memory size in bytes, including faults, because a hostile log may have many.
    var size: Int {
        if case .text(let bytes, _) = contents { bytes.count + 512 } else { 512 }
    }
}
