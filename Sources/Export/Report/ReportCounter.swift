import Files
import Telemetry

/// A sink that counts the rows of an export for a report instead of writing them.
///
/// The type is a class, so that the export and the report can share a counter.
public final class ReportCounter: TableSink {
    private(set) var tally = ReportTally()
    let prepareRows: @Sendable (inout RowBuffer) -> ReportTally
    let identities: Set<FileIdentity> = []

    /// Creates a counter for the given systems.
    ///
    /// If `hidesSmallCounts` is `true`, all values of each client are collected, because values of only a few clients
    /// are hidden.
    public init(_ systems: SystemTable, hidesSmallCounts: Bool) {
        let tables = ExportTables(systems)
        prepareRows = { ReportTally(of: $0, tables, collectsValues: hidesSmallCounts) }
    }

    func write(_ tally: borrowing ReportTally) { self.tally.add(copy tally) }

    func commit() {}
}
