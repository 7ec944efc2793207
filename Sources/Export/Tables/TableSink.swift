import Files
import Telemetry

/// An output of an export that takes the rows in their order: a database, or a folder of files.
///
/// A class, because an output is one thing that several hold on to.
protocol TableSink: AnyObject, SendableMetatype {
    /// The form in which rows are written.
    associatedtype Prepared: Sendable

    /// Converts rows to the form in which they are written. It is called concurrently. The contents of the buffer are unspecified
    /// afterwards.
    var prepare: @Sendable (inout RowBuffer) -> Prepared { get }

    /// The files that must not be read as input.
    var identities: Set<FileIdentity> { get }

    /// The number of rows that could not be written because they have no time.
    var timeless: Int { get }

    func write(_ prepared: borrowing Prepared) throws

    /// Accepts the memory of what was written, to use it again.
    func recycle(_ prepared: Prepared)

    /// Makes the output complete and gives it its name.
    func commit() throws
}

extension TableSink {
    /// The maximum number of unused buffers that a sink keeps.
    static var spareLimit: Int { 16 }

    /// The maximum size, in bytes, of a buffer that a sink keeps. Larger ones are rare.
    static var spareSizeLimit: Int { 4 << 20 }

    var timeless: Int { 0 }

    func recycle(_ prepared: Prepared) {}
}
