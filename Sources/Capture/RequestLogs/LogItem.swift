import Telemetry

/// Something in a request log, and where its text stands in the plain text of the file.
struct LogItem {
    let finding: LogFinding
    /// The first byte; nil if the file as a whole is meant.
    let start: Int?
    /// The end; nil if it is that of the file.
    let end: Int?

    init(_ finding: LogFinding, _ start: Int?, _ end: Int?) {
        self.finding = finding
        self.start = start
        self.end = end
    }
}
