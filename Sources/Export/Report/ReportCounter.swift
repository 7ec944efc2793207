import Files
import Telemetry

/// Counts the rows of an export for a report instead of writing them.
///
/// The type is a class, so that the export and the report can share a counter.
public final class ReportCounter: TableSink {
    private(set) var tally = ReportTally()
    let prepare: @Sendable (inout RowBuffer) -> ReportTally
    let identities: Set<FileIdentity> = []

    /// Creates a counter for the given systems.
    public init(_ systems: SystemTable) {
        let tables = ExportTables(systems)
        prepare = { ReportTally(of: $0, tables) }
    }

    func write(_ tally: borrowing ReportTally) { self.tally.add(copy tally) }

    func commit() {}
}
