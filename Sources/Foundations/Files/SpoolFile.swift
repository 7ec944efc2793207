import CFiles
import Glibc

/// A private file without a name, for bytes that have to be read again: gone with the value, and when the process is
/// killed too.
///
/// A class, because the threads that read from it share it; writing is for one at a time.
public final class SpoolFile: Sendable {
    /// The folder whose disk it occupies.
    public let folder: String
    private let descriptor: Descriptor

    /// Makes a file of mode 0600.
    /// - Throws: `FileError` with operation `spool`.
    public init(in folder: String) throws(FileError) {
        descriptor = try Descriptor(cfiles_open_unnamed(folder), .spool, folder)
        self.folder = folder
    }

    /// The descriptor, for a C library that reads and writes the file itself; it stays open as long as this value lives.
    public var number: Int32 { descriptor.number }

    /// Writes bytes from `offset` on; all of them, or an error.
    /// - Throws: `FileError` with operation `spool`, such as `ENOSPC`.
    public func write(_ bytes: Span<UInt8>, at offset: Int) throws(FileError) {
        let code = bytes.writeAll(to: descriptor.number, at: offset)
        guard code == 0 else { throw FileError(.spool, folder, code: code) }
    }

    /// Appends what stands from `offset` on, at most `limit` bytes, until the output is full or the file ends.
    /// - Returns: the number of bytes that were appended.
    /// - Throws: `FileError` with operation `spool`.
    @discardableResult
    public func read(
        at offset: Int, upTo limit: Int = .max, into output: inout OutputSpan<UInt8>
    ) throws(FileError) -> Int {
        try descriptor.read(at: offset, upTo: limit, into: &output, .spool, folder)
    }
}
