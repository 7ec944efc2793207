import Bundle
import Bytes
import CLibrary
import Files
import JSONText
import Synchronization

/// A private file that contains the archive members that may belong to stores, and the standard input.
///
/// The file is created when it is first needed. It has no name, so that the system removes it when the process ends.
public final class Spool: Sendable {
    private struct State {
        var file: SpoolFile?
        var endOffset = 0
        /// The bytes that were not written to the file yet, which are buffered because most members are small.
        var unwrittenBytes: [UInt8] = []
    }

    /// The limits on the size and the expansion of each archive.
    public let archiveLimits: ArchiveLimits
    /// The folder in which unnamed files are created.
    let folder: String
    private let byteLimit: Int
    private let state = Mutex(State())

    private static let writeSize = 1 << 20

    /// Creates a spool that may contain up to `byteLimit` bytes, in a file in `folder`.
    public init(
        folder: String = "/tmp", byteLimit: Int = InputLimits.spoolSize,
        archiveLimits: ArchiveLimits = ArchiveLimits()
    ) {
        self.folder = folder
        self.byteLimit = byteLimit
        self.archiveLimits = archiveLimits
    }

    var endOffset: Int { state.withLock { $0.endOffset } }

    /// Throws `EOVERFLOW` if another file of `count` bytes and the spool together would exceed the limit.
    func checkCapacity(for count: Int) throws(FileError) {
        guard count <= byteLimit - endOffset else { throw FileError(.spool, folder, code: EOVERFLOW) }
    }

    /// Appends bytes, or throws `EOVERFLOW` if the spool would exceed the limit.
    func append(_ bytes: Span<UInt8>) throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard bytes.count <= byteLimit - state.endOffset else { throw FileError(.spool, folder, code: EOVERFLOW) }
            bytes.withUnsafeBufferPointer { state.unwrittenBytes.append(contentsOf: $0) }
            state.endOffset += bytes.count
            if state.unwrittenBytes.count >= Self.writeSize { _ = try write(&state) }
        }
    }

    /// Copies the standard input to the spool, including its first bytes `head`, which were already read.
    func appendStandardInput(head: [UInt8]) throws(FileError) -> ByteSource {
        let start = endOffset
        var part = head
        while !part.isEmpty {
            try append(part.span)
            part = try [UInt8](capacity: Self.writeSize) { output throws(FileError) in
                _ = try StandardInput.read(into: &output)
            }
        }
        return ByteSource(try file(), at: start, count: endOffset - start)
    }

    func truncate(to endOffset: Int) {
        state.withLock { state in
            state.unwrittenBytes.removeLast(min(state.unwrittenBytes.count, state.endOffset - endOffset))
            state.endOffset = endOffset
        }
    }

    /// Writes all buffered bytes to the file, and returns the file.
    func file() throws(FileError) -> SpoolFile {
        try state.withLock { state throws(FileError) in try write(&state) }
    }

    private func write(_ state: inout State) throws(FileError) -> SpoolFile {
        let file: SpoolFile
        if let present = state.file { file = present } else { file = try SpoolFile(in: folder) }
        state.file = file
        try file.write(state.unwrittenBytes.span, at: state.endOffset - state.unwrittenBytes.count)
        state.unwrittenBytes.removeAll(keepingCapacity: true)
        return file
    }
}
