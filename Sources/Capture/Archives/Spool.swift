import Bundle
import Files
import Glibc
import JSONText
import Synchronization

/// The spool of a command: one private file, made when the first archive is read, for the members that may belong to
/// stores. Nothing of it is left when the process ends, however it ends.
public final class Spool: Sendable {
    private struct State {
        var file: SpoolFile?
        /// How many bytes there are, those that wait among them.
        var end = 0
        /// What was not written yet: most members are small.
        var waiting: [UInt8] = []
    }

    /// How much an archive may hold.
    public let archiveLimits: ArchiveLimits
    /// Where files without names are made.
    let folder: String
    private let limit: Int
    private let state = Mutex(State())

    private static let writeSize = 1 << 20

    /// Creates a spool whose file is made in `folder` and may have up to `limit` bytes.
    public init(folder: String = "/tmp", limit: Int = 16 << 30, archiveLimits: ArchiveLimits = ArchiveLimits()) {
        self.folder = folder
        self.limit = limit
        self.archiveLimits = archiveLimits
    }

    /// How many bytes there are.
    var end: Int { state.withLock { $0.end } }

    /// Throws `EOVERFLOW` unless a separate file may have `count` bytes beside those of the spool.
    func checkRoom(for count: Int) throws(FileError) {
        guard count <= limit - end else { throw FileError(.spool, folder, code: EOVERFLOW) }
    }

    /// Appends bytes. Throws `EOVERFLOW` beyond the limit.
    func append(_ bytes: Span<UInt8>) throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard bytes.count <= limit - state.end else { throw FileError(.spool, folder, code: EOVERFLOW) }
            bytes.withUnsafeBufferPointer { state.waiting.append(contentsOf: $0) }
            state.end += bytes.count
            if state.waiting.count >= Self.writeSize { _ = try write(&state) }
        }
    }

    /// Copies all of the standard input, of which `head` was read before.
    public func takeStandardInput(head: [UInt8]) throws(FileError) -> ByteSource {
        let start = end
        var part = head
        while !part.isEmpty {
            try append(part.span)
            part = try [UInt8](capacity: Self.writeSize) { output throws(FileError) in
                _ = try StandardInput.read(into: &output)
            }
        }
        return ByteSource(try file(), at: start, count: end - start)
    }

    /// Takes back the bytes from a place on that nobody has read.
    func cut(to end: Int) {
        state.withLock { state in
            state.waiting.removeLast(min(state.waiting.count, state.end - end))
            state.end = end
        }
    }

    /// Returns the file, to which all bytes were written.
    func file() throws(FileError) -> SpoolFile {
        try state.withLock { state throws(FileError) in try write(&state) }
    }

    private func write(_ state: inout State) throws(FileError) -> SpoolFile {
        let file: SpoolFile
        if let present = state.file { file = present } else { file = try SpoolFile(in: folder) }
        state.file = file
        try file.write(state.waiting.span, at: state.end - state.waiting.count)
        state.waiting.removeAll(keepingCapacity: true)
        return file
    }
}
