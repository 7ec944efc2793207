import Bundle
import CArchive
import Files
import Glibc

/// Where the bytes of an archive come from.
public enum ArchiveBytes: Sendable {
    /// A file, a part of the spool, or memory.
    case source(ByteSource)
    /// The standard input, which has given these bytes already, and what hashes all of them, if that is wanted.
    case standardInput(head: [UInt8], StreamHash?)

    /// How many there are, as far as that is known.
    var count: Int? {
        if case .source(let source) = self { source.count } else { nil }
    }
}

/// Feeds libarchive, which never opens a file itself, and watches how much it makes of what it gets.
///
/// A class, for libarchive keeps a pointer to it.
final class ArchiveInput {
    private enum Origin {
        /// The bytes as they lie there.
        case stored(ArchiveBytes)
        /// What is left of them without a compression.
        case decompressed(any Decompression)
    }

    /// Why reading failed, where the cause is not one that libarchive reports.
    private(set) var failure: ArchiveError?
    /// How many bytes were handed over, repeated ones too.
    private var delivered = 0
    private let origin: Origin
    private let limits: ArchiveLimits
    private var position = 0
    /// The first decompressed block, once it was looked at and until it is handed over.
    private var first: UnsafeRawBufferPointer?
    /// The bytes of the last block that a reader other than libarchive did not use yet.
    private(set) var rest = UnsafeRawBufferPointer(start: nil, count: 0)
    private let buffer: UnsafeMutableBufferPointer<UInt8>

    private init(_ origin: Origin, _ limits: ArchiveLimits) {
        self.origin = origin
        self.limits = limits
        // Decompressed blocks are handed on where they are.
        buffer = if case .stored = origin { .allocate(capacity: 128 << 10) } else { .init(start: nil, count: 0) }
    }

    deinit { buffer.deallocate() }

    /// The bytes of an archive without the compressions that they are packed in.
    /// - Throws: ``ArchiveError``; `overLimit` for compressions deeper in each other than they are read.
    static func opening(_ bytes: ArchiveBytes, _ limits: ArchiveLimits) throws(ArchiveError) -> ArchiveInput {
        var input = ArchiveInput(.stored(bytes), limits)
        var levels = 0
        while true {
            let head = try input.head()
            if levels > 0, head.isEmpty { throw ArchiveError(.empty) }
            if let format = UnsupportedFormat.find(in: head)
                ?? (levels > 0 && UnsupportedFormat.sevenZip.isFormat(of: head) ? .sevenZip : nil)
            {
                throw ArchiveError(.unsupportedFormat("\(format.name), which cannot be read"))
            }
            guard let compression = Compression(head: head) else { return input }
            levels += 1
            guard levels <= Compression.mostLevels else {
                throw ArchiveError(.overLimit("\(Compression.mostLevels) compressions, one in the other"))
            }
            input = ArchiveInput(.decompressed(try compression.decompression(of: input)), limits)
        }
    }

    /// The first bytes, before any are handed over.
    private func head() throws(ArchiveError) -> [UInt8] {
        switch origin {
        case .stored(.source(let source)):
            return try ArchiveError.wrapping { () throws(FileError) in
                try source.bytes(at: 0, count: min(source.count, UnsupportedFormat.headSize))
            }
        case .stored(.standardInput(let head, _)): return Array(head.prefix(UnsupportedFormat.headSize))
        case .decompressed(let decompression):
            let block = try decompression.next()
            first = block
            return Array(block.prefix(UnsupportedFormat.headSize))
        }
    }

    /// Sets the callbacks of a reader. The input has to outlive it.
    func attach(to archive: OpaquePointer) {
        archive_read_set_callback_data(archive, Unmanaged.passUnretained(self).toOpaque())
        archive_read_set_read_callback(archive) { archive, input, start in
            start?.pointee = nil
            guard let archive, let start, let input = ArchiveInput.from(input) else { return Int(ARCHIVE_FATAL) }
            return input.read(for: archive, start)
        }
        guard canSkip else { return }
        archive_read_set_skip_callback(archive) { _, input, count in
            ArchiveInput.from(input)?.skip(count) ?? 0
        }
        archive_read_set_seek_callback(archive) { _, input, offset, whence in
            ArchiveInput.from(input)?.seek(offset, whence) ?? Int64(ARCHIVE_FATAL)
        }
    }

    private static func from(_ pointer: UnsafeMutableRawPointer?) -> ArchiveInput? {
        pointer.map { Unmanaged<ArchiveInput>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether bytes can be passed over without being read.
    var canSkip: Bool { count != nil }

    /// How many bytes there are to hand over, where that is known and any of them can be had at once.
    private var count: Int? {
        if case .stored(let bytes) = origin { bytes.count } else { nil }
    }

    /// How many bytes there are of the archive as it lies there, or were read of it where that is not known.
    var archivedCount: Int {
        switch origin {
        case .stored(let bytes): bytes.count ?? delivered
        case .decompressed(let decompression): decompression.input.archivedCount
        }
    }

    /// Returns how far `archive` has read, in bytes of the stored archive.
    func offset(ofReader archive: OpaquePointer) -> Int {
        switch origin {
        case .stored: Int(archive_filter_bytes(archive, -1))
        case .decompressed(let decompression): decompression.offset
        }
    }

    /// The offset of the first byte that is not used, in bytes of the stored archive.
    var offset: Int {
        switch origin {
        case .stored: position - rest.count
        case .decompressed(let decompression): decompression.offset
        }
    }

    /// Reads the next block if all bytes were used. `rest` is empty at the end.
    func refill() throws(ArchiveError) {
        if rest.isEmpty { rest = try nextBlock() }
    }

    /// Removes the first `count` bytes from `rest`.
    func use(_ count: Int) { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }

    /// Appends the next bytes to `output`, as many as fit, or none at the end.
    func read(into output: inout OutputSpan<UInt8>) throws(ArchiveError) {
        try refill()
        guard !rest.isEmpty else { return }
        use(output.append(asMuchAsFitsOf: rest.assumingMemoryBound(to: UInt8.self).span))
    }

    /// Reads compressed bytes to their end, because their checksum stands there.
    func finish() throws(ArchiveError) {
        guard case .decompressed(let decompression) = origin else { return }
        while try !nextBlock().isEmpty {
            guard allows(expanded: delivered) else { throw ArchiveError(.overExpanded, at: decompression.offset) }
        }
        try decompression.input.finish()
    }

    /// Whether a number of unpacked bytes is within the limits for the input that was read so far.
    func allows(expanded: Int) -> Bool {
        !limits.isOverExpanded(expanded, from: archivedCount)
    }
}

// MARK: - Callbacks

extension ArchiveInput {
    /// Hands over the next bytes; 0 at the end.
    private func read(for archive: OpaquePointer, _ start: UnsafeMutablePointer<UnsafeRawPointer?>) -> Int {
        do throws(ArchiveError) {
            // Asked here, for while libarchive skips a member it calls nothing else.
            guard allows(expanded: Int(archive_filter_bytes(archive, 0))) else {
                throw ArchiveError(.overExpanded, at: offset(ofReader: archive))
            }
            let block = try nextBlock()
            start.pointee = block.baseAddress
            return block.count
        } catch {
            failure = error
            return Int(ARCHIVE_FATAL)
        }
    }

    /// The next bytes, good until the next call; none at the end.
    private func nextBlock() throws(ArchiveError) -> UnsafeRawBufferPointer {
        let block = try makeBlock()
        position += block.count
        delivered += block.count
        return block
    }

    private func makeBlock() throws(ArchiveError) -> UnsafeRawBufferPointer {
        switch origin {
        case .decompressed(let decompression):
            if let block = first.take() { return block }
            return try decompression.next()
        case .stored(let bytes):
            return try ArchiveError.wrapping { () throws(FileError) in
                var output = OutputSpan(buffer: buffer, initializedCount: 0)
                try fill(&output, from: bytes)
                return UnsafeRawBufferPointer(start: buffer.baseAddress, count: output.finalize(for: buffer))
            }
        }
    }

    private func fill(_ output: inout OutputSpan<UInt8>, from bytes: ArchiveBytes) throws(FileError) {
        switch bytes {
        case .source(let source): try source.read(at: position, into: &output)
        case .standardInput(let head, let hash):
            for byte in head.dropFirst(position).prefix(output.freeCapacity) { output.append(byte) }
            let present = output.count
            try StandardInput.read(into: &output)
            hash?.take(output.span.extracting(present...))
        }
    }

    /// Passes over bytes, at most to the end of the input.
    func skip(_ wanted: Int64) -> Int64 {
        let unused = min(max(wanted, 0), Int64(rest.count))
        use(Int(unused))
        let skipped = min(max(wanted - unused, 0), Int64(max((count ?? 0) - position, 0)))
        position += Int(skipped)
        return unused + skipped
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        let start = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? position : count ?? 0
        let (target, overflow) = Int64(start).addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return Int64(ARCHIVE_FATAL) }
        position = Int(min(target, Int64(count ?? 0)))
        return Int64(position)
    }
}
