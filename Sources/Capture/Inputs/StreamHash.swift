import Bundle
import Files
import Hashing
import Synchronization

/// The hash of the standard input, which is computed while the input is read.
public final class StreamHash: Sendable {
    private let hash = RunningHash()
    private let isComplete = Mutex(false)

    /// The maximum number of bytes after the end of an archive, such as the padding that tapes and pipes add.
    static let trailingByteLimit = 1 << 30
    private static let pieceSize = 1 << 20

    init(head: [UInt8]) { hash.update(head.span) }

    func update(_ bytes: Span<UInt8>) { hash.update(bytes) }

    /// Reads and hashes the bytes after the end of the archive, up to the limit, because they are part of the input.
    func readRest() throws(FileError) {
        var left = Self.trailingByteLimit
        while left > 0 {
            let bytes = try [UInt8](capacity: min(Self.pieceSize, left)) { output throws(FileError) in
                _ = try StandardInput.read(into: &output)
            }
            guard !bytes.isEmpty else { return isComplete.withLock { $0 = true } }
            update(bytes.span)
            left -= bytes.count
        }
    }

    var sha256: ContentHash? {
        isComplete.withLock { $0 } ? hash.value : nil
    }
}
