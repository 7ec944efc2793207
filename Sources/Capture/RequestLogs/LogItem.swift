import Telemetry

/// Something in a request log, and where its text stands in the plain text of the file.
struct LogItem: Sendable {
    var finding: LogFinding
    /// Whether it is a payload that came without a record around it: of systems whose payloads carry neither id nor time,
    /// equal ones are numbered.
    var isPayload = false
    /// The first byte; nil if the file as a whole is meant.
    let start: Int?
    /// The end; nil if it is that of the file.
    let end: Int?
}

/// An entry or a line that was cut out of a request log and not read yet, or what is wrong where one should be.
struct LogCut: Sendable {
    enum Contents: Sendable {
        /// Its bytes, and its place in the log, from 0.
        case text([UInt8], index: Int)
        case fault(String)
    }

    let contents: Contents
    /// The first byte; nil if the file as a whole is meant.
    let start: Int?
    /// The end; nil if it is that of the file.
    let end: Int?

    /// About how many bytes of memory it takes until it is settled. A fault takes some too: a hostile log has one after another.
    var size: Int {
        if case .text(let bytes, _) = contents { bytes.count + 512 } else { 512 }
    }
}
