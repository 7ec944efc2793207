import Files
import Synchronization
import Tar

/// A reader that splits a decompressed tar archive into chunks of whole blocks.
///
/// The type is a class because one job decompresses chunks while another parses them.
final class TarChunkReader: Sendable {
    private struct State: ~Copyable {
        let input: ArchiveInput
        var byteCount = 0
    }

    /// The size in bytes of each chunk except for the last one, which may be smaller.
    private static let chunkSize = 1 << 20
    /// The minimum number of bytes that are skipped instead of being read.
    ///
    /// Skipping fewer bytes is slower than reading them.
    private static let skipThreshold = 8 * chunkSize

    private let state: Mutex<State>
    private let canSkip: Bool

    /// Opens the archive, or throws ``RequiresLibarchive`` so that libarchive reports why it cannot be read.
    init(_ bytes: ArchiveBytes, _ limits: ArchiveLimits) throws(RequiresLibarchive) {
        guard let input = try? ArchiveInput.decompressing(bytes, limits) else { throw RequiresLibarchive() }
        canSkip = input.canSkip
        state = Mutex(State(input: input))
    }

    /// Returns the next chunk, or an empty array at the end.
    ///
    /// - Throws: ``RequiresLibarchive`` if the archive ends within a block, or ``ArchiveError`` if it cannot be read.
    func nextChunk() throws -> [UInt8] {
        try state.withLock { state in
            let chunk = try [UInt8](capacity: Self.chunkSize) { output in
                while !output.isFull {
                    let count = output.count
                    try state.input.read(into: &output)
                    guard output.count > count else { return }
                }
            }
            state.byteCount += chunk.count
            guard state.input.allows(expandedSize: state.byteCount) else { throw ArchiveError(.overExpanded) }
            guard chunk.count.isMultiple(of: TarEntry.blockSize) else { throw RequiresLibarchive() }
            return chunk
        }
    }

    /// Reads the bytes after the last member, and verifies the checksums of compressions.
    func finish() throws { try state.withLock { try $0.input.finish() } }

    /// Returns whether skipping `count` bytes is possible and faster than reading them.
    func isWorthSkipping(_ count: Int) -> Bool { canSkip && count >= Self.skipThreshold }

    /// Skips up to `count` bytes, a multiple of the block size, and returns the number of skipped bytes.
    func skip(_ count: Int) -> Int { state.withLock { Int($0.input.skip(Int64(count))) } }
}
