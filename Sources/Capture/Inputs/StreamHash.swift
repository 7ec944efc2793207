import Bundle
import Files
import Hashing
import Synchronization

/// The hash of the standard input, made of its bytes as they are read from it.
public final class StreamHash: Sendable {
    private let hash = RunningHash()
    private let isEnded = Mutex(false)

    /// How many bytes may follow the end of an archive: tapes and pipes fill up their last block.
    static let mostTrailing = 1 << 30
    private static let step = 1 << 20

    /// Begins with what was read to tell the kind of the input.
    init(head: [UInt8]) { hash.take(head.span) }

    func take(_ bytes: Span<UInt8>) { hash.take(bytes) }

    /// Takes what follows the end of the archive, for it belongs to what was given.
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

    /// The hash; nil if the end was not reached.
    var sha256: ContentHash? {
        isEnded.withLock { $0 } ? hash.value : nil
    }
}
