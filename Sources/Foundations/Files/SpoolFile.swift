import CFiles
import Glibc

/// An unnamed temporary file for bytes that are read again later.
///
/// The file disappears when the value is destroyed or the process is killed. Several threads may read from it at the
/// same time, but only one may write.
public final class SpoolFile: Sendable {
    /// A folder on the same disk as the file.
    public let folder: String
    private let descriptor: Descriptor

    /// Creates a file with permissions 0600 on the disk that contains `folder`.
    public init(in folder: String) throws(FileError) {
        descriptor = try Descriptor(cfiles_open_unnamed(folder), .spool, folder)
        self.folder = folder
    }

    /// The file descriptor for C libraries, which is valid until this object is destroyed.
    public var descriptorNumber: Int32 { descriptor.number }

    /// Writes all of `bytes` to the file, beginning at `offset`.
    ///
    /// - Throws: `FileError` with the operation `spool`, such as `ENOSPC`.
    public func write(_ bytes: Span<UInt8>, at offset: Int) throws(FileError) {
        let code = bytes.writeAll(to: descriptor.number, at: offset)
        guard code == 0 else { throw FileError(.spool, folder, code: code) }
    }

    /// Appends bytes from `offset` onward until `output` is full, `limit` bytes were appended, or the file ends.
    ///
    /// Returns the number of appended bytes.
    @discardableResult
    public func read(
        at offset: Int, upTo limit: Int = .max, into output: inout OutputSpan<UInt8>
    ) throws(FileError) -> Int {
        try descriptor.read(at: offset, upTo: limit, into: &output, .spool, folder)
    }
}
