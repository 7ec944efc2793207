import Tar

/// The header of a tar archive of the kind before POSIX, which has no signature: only its checksum tells it.
///
/// Source: the manual of Unix, version 7, `tar(5)`.
enum OldTarHeader {
    /// Whether bytes begin with such a header.
    static func begins(_ head: [UInt8]) -> Bool {
        guard head.count >= TarEntry.blockSize, head[0] != 0 else { return false }
        return TarEntry.hasChecksum(head.span.extracting(first: TarEntry.blockSize))
    }
}
