import Files
import Synchronization
import Telemetry

/// Counts the rows of an export for a report, instead of writing them.
///
/// A class, because the export and who makes the report hold on to it.
public final class ReportCounter: Sendable {
    private let state = Mutex(ReportTally())

    /// Begins with nothing counted.
    public init() {}

    var tally: ReportTally { state.withLock { $0 } }

    func add(_ tally: ReportTally) { state.withLock { $0.add(tally) } }
}

/// The sink that fills a counter.
final class ReportSink: TableSink {
    let preparer: ReportPreparer
    let identities: Set<FileIdentity> = []
    /// What has no time is counted by the report itself.
    let timeless = 0
    private let counter: ReportCounter

    init(_ counter: ReportCounter, tables: ExportTables) {
        self.counter = counter
        preparer = ReportPreparer(tables: tables)
    }

    func write(_ tally: borrowing ReportTally) { counter.add(copy tally) }

    func commit() {}
}

/// Counts the rows of some records, on all cores.
struct ReportPreparer: RowPreparer {
    let tables: ExportTables

    func prepare(_ rows: inout RecordRows) -> ReportTally { prepare(rows.buffer) }

    func prepare(_ rows: RowBuffer) -> ReportTally { RowCounting.tally(of: rows, tables: tables) }

    func recycle(_ tally: ReportTally) {}
}
