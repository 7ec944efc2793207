import Files
import Telemetry

/// Counts the rows of an export for a report, instead of writing them.
///
/// A class, because the export and who makes the report hold on to it.
public final class ReportCounter: TableSink {
    private(set) var tally = ReportTally()
    let prepare: @Sendable (inout RowBuffer) -> ReportTally
    let identities: Set<FileIdentity> = []

    /// Begins with nothing counted of the records of some systems.
    public init(_ systems: SystemTable) {
        let tables = ExportTables(systems)
        prepare = { ReportTally(of: $0, tables) }
    }

    func write(_ tally: borrowing ReportTally) { self.tally.add(copy tally) }

    func commit() {}
}
