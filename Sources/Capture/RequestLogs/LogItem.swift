import Telemetry

/// A finding in a request log, and its location in the decompressed text.
struct LogItem: Sendable {
    var finding: LogFinding
    /// Whether the finding is from a payload that is not in a record or a store file.
    ///
    /// Equal payloads without an ID and a time are numbered.
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

    /// The approximate memory size in bytes.
    ///
    /// Faults have a size too, because a hostile log may have many of them.
    var size: Int {
        if case .text(let bytes, _) = contents { bytes.count + 512 } else { 512 }
    }
}
