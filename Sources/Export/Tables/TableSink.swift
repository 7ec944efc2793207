import Files
import Telemetry

/// Takes the rows of an export in their order: a database, or a folder of files.
///
/// A class, because an output is one thing that several hold on to.
protocol TableSink: AnyObject, SendableMetatype {
    /// What a job makes of rows, so that little is left to be done in order.
    associatedtype Prepared: Sendable

    /// The files that must not be read as input.
    var identities: Set<FileIdentity> { get }

    /// How many rows could not be written, for they have no time.
    var timeless: Int { get }

    /// Makes of rows what is written; called by several jobs at once.
    static func prepare(_ rows: RowBuffer, of tables: [Table]) -> Prepared

    /// Writes rows.
    func write(_ prepared: Prepared) throws

    /// Makes the output complete and gives it its name.
    func commit() throws
}
