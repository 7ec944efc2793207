import Bundle
import Files
import Hashing
import Synchronization

/// The hash of the standard input, which is computed as the input is read.
public final class StreamHash: Sendable {
    private let hash = RunningHash()
    private let isEnded = Mutex(false)

    /// The maximum number of bytes that may follow the end of an archive, because tapes and pipes pad their last block.
    static let mostTrailing = 1 << 30
    private static let step = 1 << 20

    /// Creates a hash of an input whose first bytes are `head`.
    init(head: [UInt8]) { hash.take(head.span) }

    func take(_ bytes: Span<UInt8>) { hash.take(bytes) }

    /// Reads and hashes the bytes after the end of the archive, which are part of the input.
    func takeRest() throws(FileError) {
        var left = Self.mostTrailing
        while left > 0 {
            let bytes = try [UInt8](capacity: min(Self.step, left)) { output throws(FileError) in
                _ = try StandardInput.read(into: &output)
            }
            guard !bytes.isEmpty else { return isEnded.withLock { $0 = true } }
            take(bytes.span)
            left -= bytes.count
        }
    }

    /// The hash, or `nil` if the end of the input was not reached.
    var sha256: ContentHash? {
        isEnded.withLock { $0 } ? hash.value : nil
    }
}
