import Files
import Hashing
import Synchronization

/// SHA-256 of bytes that come one piece after another.
///
/// A class, for what writes and what asks for the hash are different closures.
public final class RunningHash: Sendable {
    private let hasher = Mutex(SHA256())

    /// Begins with no bytes.
    public init() {}

    /// Takes the bytes that come next.
    public func take(_ bytes: Span<UInt8>) {
        hasher.withLock { $0.update(bytes) }
    }

    /// The hash of all bytes so far.
    public var value: ContentHash { hasher.withLock { $0.finalize() } }

    /// The hash of all bytes of a source, of which no more than a piece is held at once.
    public static func value(of source: ByteSource) throws(FileError) -> ContentHash {
        var hash = SHA256()
        try source.forEachStep { bytes, _ throws(FileError) in hash.update(bytes.span) }
        return hash.finalize()
    }
}
