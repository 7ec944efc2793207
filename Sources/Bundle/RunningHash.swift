import Files
import Hashing
import Synchronization

/// A SHA-256 hash of bytes that arrive in pieces.
///
/// The type is a class, so that several closures can share a hash.
public final class RunningHash: Sendable {
    private let hasher = Mutex(SHA256())

    /// Creates the hash of no bytes.
    public init() {}

    /// Adds the next bytes.
    public func update(_ bytes: Span<UInt8>) {
        hasher.withLock { $0.update(bytes) }
    }

    /// The hash of all bytes that have been added.
    public var value: ContentHash { hasher.withLock { $0.finalize() } }

    /// Returns the hash of all bytes of a source.
    ///
    /// The source is read in pieces to save memory.
    public static func hash(of source: ByteSource) throws(FileError) -> ContentHash {
        var hash = SHA256()
        try source.forEachChunk { bytes, _ throws(FileError) in hash.update(bytes.span) }
        return hash.finalize()
    }
}
