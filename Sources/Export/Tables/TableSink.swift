import Files
import Telemetry

/// Takes the rows of an export in their order: a database, or a folder of files.
///
/// A class, because an output is one thing that several hold on to.
protocol TableSink: AnyObject, SendableMetatype {
    /// Makes of rows what is written.
    associatedtype Preparer: RowPreparer

    /// What several jobs use at once.
    var preparer: Preparer { get }

    /// The files that must not be read as input.
    var identities: Set<FileIdentity> { get }

    /// How many rows could not be written, for they have no time.
    var timeless: Int { get }

    /// Writes rows.
    func write(_ prepared: borrowing Preparer.Prepared) throws

    /// Makes the output complete and gives it its name.
    func commit() throws
}

/// Makes of rows what a sink writes, so that little is left to be done in order.
protocol RowPreparer: Sendable {
    /// What is written.
    associatedtype Prepared: Sendable

    /// Prepares the rows that a maker has made.
    func prepare(_ rows: inout RecordRows) -> Prepared

    /// Prepares other rows.
    func prepare(_ rows: RowBuffer) -> Prepared

    /// Takes back what was written: its memory is used again.
    func recycle(_ prepared: Prepared)
}

extension RowPreparer {
    /// The maximum number of unused buffers that a preparer keeps.
    static var spareLimit: Int { 16 }

    /// The maximum size, in bytes, of a buffer that a preparer keeps. Larger ones are rare.
    static var spareSizeLimit: Int { 4 << 20 }
}
