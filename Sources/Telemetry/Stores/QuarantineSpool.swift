import Bytes
import CLibrary
import Files
import Hashing
import Synchronization

/// The bytes of quarantined files and byte ranges, stored in an unnamed file until a bundle is written.
///
/// Equal bytes are stored once. The type is a class because all jobs add to the same file.
public final class QuarantineSpool: Sendable {
    private struct State {
        var file: SpoolFile?
        /// The size of the file in bytes.
        var size = 0
        var ranges: [ContentHash: Range<Int>] = [:]
        var remainingSize: Int
    }

    private let folder: String
    private let state: Mutex<State>

    /// Creates an empty spool whose file will be created in `folder`.
    ///
    /// `limit` is the maximum total size of the bytes that a bundle will contain.
    public init(folder: String, limit: Int) {
        self.folder = folder
        state = Mutex(State(remainingSize: limit))
    }

    /// Notes that the bundle has space for at most `size` more bytes.
    ///
    /// Longer bytes are then not stored, so that the file does not become much larger than the bundle.
    public func noteRemainingSize(_ size: Int) { state.withLock { $0.remainingSize = size } }

    /// Stores bytes with the hash `sha256`.
    ///
    /// - Throws: `FileError` with the operation `spool`.
    func store(_ bytes: Span<UInt8>, sha256: ContentHash) throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard bytes.count <= state.remainingSize, state.ranges[sha256] == nil else { return }
            let file = if let present = state.file { present } else { try SpoolFile(in: folder) }
            state.file = file
            try file.write(bytes, at: state.size)
            state.ranges[sha256] = state.size..<state.size + bytes.count
            state.size += bytes.count
        }
    }

    /// Returns the bytes with the hash `sha256`, or `nil` if they are not stored.
    ///
    /// - Throws: `FileError` with the operation `spool`.
    public func bytes(of sha256: ContentHash) throws(FileError) -> [UInt8]? {
        let (file, range) = state.withLock { ($0.file, $0.ranges[sha256]) }
        guard let file, let range else { return nil }
        let bytes = try ByteSource(file, at: range.lowerBound, count: range.count).bytes(at: 0, count: range.count)
        guard ContentHash(of: bytes) == sha256 else { throw FileError(.spool, folder, code: EIO) }
        return bytes
    }
}
