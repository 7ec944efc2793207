import Telemetry

/// A finding in a request log, and its location in the plain text of the file.
struct LogItem: Sendable {
    var finding: LogFinding
    /// Whether the finding is a payload without a record.
    ///
    /// Equal payloads without id and time are numbered.
    var isPayload = false
    /// The offset of the first byte, or `nil` if the finding concerns the whole file.
    let start: Int?
    /// The end offset, or `nil` for the end of the file.
    let end: Int?
}

/// An entry or a line of a request log that was not parsed yet, or a fault.
struct RawLogItem: Sendable {
    enum Contents: Sendable {
        /// The bytes of the item, and its index in the log.
        case text([UInt8], index: Int)
        case fault(String)
    }

    let contents: Contents
    /// The offset of the first byte, or `nil` if a fault concerns the whole file.
    let start: Int?
    /// The end offset, or `nil` for the end of the file.
    let end: Int?

    /// The approximate memory in bytes that the item occupies.
    ///
    /// Faults are included, because a hostile log may have many.
    var size: Int {
        if case .text(let bytes, _) = contents { bytes.count + 512 } else { 512 }
    }
}
