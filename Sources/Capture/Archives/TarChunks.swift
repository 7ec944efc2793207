import Files
import Synchronization
import Tar

/// The bytes of a tar archive without its compressions, in chunks that are whole blocks of a tar.
///
/// A class, for chunks are made by one job while others are looked at.
final class TarChunks: Sendable {
    private struct State: ~Copyable {
        let input: ArchiveInput
        var given = 0
    }

    /// How many bytes a chunk has, except the last one.
    private static let size = 1 << 20
    /// What is worth passing over.
    private static let leastSkipped = 8 * size

    private let state: Mutex<State>
    /// Whether bytes can be passed over without being read.
    private let canSkip: Bool

    /// Throws an error if the archive cannot be read. libarchive then reports why.
    init(_ bytes: ArchiveBytes, _ limits: ArchiveLimits) throws(NotPlain) {
        guard let input = try? ArchiveInput.opening(bytes, limits) else { throw NotPlain() }
        canSkip = input.canSkip
        state = Mutex(State(input: input))
    }

    /// Returns the next chunk, or no bytes at the end. Throws ``NotPlain`` if the archive ends within a block.
    func next() throws -> [UInt8] {
        try state.withLock { state in
            let chunk = try [UInt8](capacity: Self.size) { output in
                while !output.isFull {
                    let count = output.count
                    try state.input.read(into: &output)
                    guard output.count > count else { return }
                }
            }
            state.given += chunk.count
            guard state.input.allows(expanded: state.given) else { throw ArchiveError(.overExpanded) }
            guard chunk.count.isMultiple(of: TarEntry.blockSize) else { throw NotPlain() }
            return chunk
        }
    }

    /// Reads what follows the last member, and compares the checksums of compressions.
    func finish() throws { try state.withLock { try $0.input.finish() } }

    /// Whether it is worth the trouble to pass over bytes.
    func isWorthSkipping(_ count: Int) -> Bool { canSkip && count >= Self.leastSkipped }

    /// Skips `count` bytes, which are whole blocks. Returns the number of skipped bytes, which is smaller if the archive ends.
    func skip(_ count: Int) -> Int { state.withLock { Int($0.input.skip(Int64(count))) } }
}
