import Bundle
import Bytes
import CArchive
import CLibrary
import Files

/// The origin of the bytes of an archive.
public enum ArchiveBytes: Sendable {
    /// Bytes with random access: a file, a part of the spool, or memory.
    case source(ByteSource)
    /// The standard input, and the hash to update while reading it, if any.
    ///
    /// `head` contains the first bytes, which were already read.
    case standardInput(head: [UInt8], StreamHash?)

    var count: Int? {
        if case .source(let source) = self { source.count } else { nil }
    }
}

/// An input that supplies libarchive and other readers with the bytes of an archive.
///
/// The input limits the size of the decompressed data. libarchive never opens a file itself. The type is a class
/// because libarchive keeps a pointer to the input.
final class ArchiveInput {
    private enum Origin {
        case stored(ArchiveBytes)
        case decompressed(any Decompressor)
    }

    /// The error that occurred in a callback, or `nil` if no callback failed.
    ///
    /// The error is stored here because libarchive cannot pass it to the caller.
    private(set) var callbackError: (any Error)?
    /// The number of bytes that were passed to the reader, including bytes that were read twice.
    private var deliveredByteCount = 0
    private let origin: Origin
    private let limits: ArchiveLimits
    private var position = 0
    /// The number of bytes before the archive in a stored file.
    private(set) var prefixSize = 0
    /// The first decompressed block, if it was inspected but not yet passed to the reader.
    private var firstBlock: UnsafeRawBufferPointer?
    /// The last block, which is valid until the next one is read.
    private var lastBlock = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The bytes of the last block that were not used yet, for readers other than libarchive.
    private(set) var unusedBytes = UnsafeRawBufferPointer(start: nil, count: 0)
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    /// The last bytes that were read, if ``omitsBytesAfterXZ`` is `true` and more bytes may follow.
    private var heldBytes: [UInt8] = []
    /// Whether bytes after the last xz stream are omitted, because libarchive would report them as damage.
    var omitsBytesAfterXZ = false
    /// The number of bytes other than zeros after the end of this input's compressed data.
    private var omittedByteCount = 0

    private init(_ origin: Origin, _ limits: ArchiveLimits) {
        self.origin = origin
        self.limits = limits
        // Decompressed blocks need no buffer, because they are passed on without a copy.
        buffer = if case .stored = origin { .allocate(capacity: 128 << 10) } else { .init(start: nil, count: 0) }
    }

    deinit { buffer.deallocate() }

    /// Creates an input that removes all compressions around an archive.
    static func decompressing(_ bytes: ArchiveBytes, _ limits: ArchiveLimits) throws -> ArchiveInput {
        var input = ArchiveInput(.stored(bytes), limits)
        var levels = 0
        while true {
            let head = try input.head()
            if levels > 0, head.isEmpty { throw ArchiveError(.empty) }
            if let name = ArchiveFormat.unsupported(head, isInCompressedFile: levels > 0) {
                throw ArchiveError(.unsupportedFormat("\(name), which cannot be read"))
            }
            guard let compression = Compression(head: head) else { return input }
            levels += 1
            guard levels <= InputLimits.archiveCompressionCount else {
                throw ArchiveError(.overLimit("\(InputLimits.archiveCompressionCount) compressions, one in the other"))
            }
            input = ArchiveInput(.decompressed(try compression.decompressor(of: input)), limits)
        }
    }

    private func head() throws -> [UInt8] {
        switch origin {
        case .stored(.source(let source)):
            return try source.bytes(at: 0, count: min(source.count, ArchiveFormat.headSize))
        case .stored(.standardInput(let head, _)): return Array(head.prefix(ArchiveFormat.headSize))
        case .decompressed(let decompressor):
            let block = try decompressor.nextBlock()
            firstBlock = block
            return Array(block.prefix(ArchiveFormat.headSize))
        }
    }

    /// Begins reading a stored file at the offset `size`.
    func skipPrefix(_ size: Int) { (prefixSize, position) = (size, size) }

    /// Sets the callbacks of a libarchive reader, which must not outlive the input.
    func attach(to archive: OpaquePointer) {
        archive_read_set_callback_data(archive, Unmanaged.passUnretained(self).toOpaque())
        archive_read_set_read_callback(archive) { archive, input, start in
            start?.pointee = nil
            guard let archive, let start, let input = ArchiveInput.instance(at: input) else {
                return Int(ARCHIVE_FATAL)
            }
            return input.read(for: archive, start)
        }
        guard storedByteCount != nil else { return }
        archive_read_set_skip_callback(archive) { _, input, count in
            ArchiveInput.instance(at: input)?.skip(count) ?? 0
        }
        archive_read_set_seek_callback(archive) { _, input, offset, whence in
            ArchiveInput.instance(at: input)?.seek(offset, whence) ?? Int64(ARCHIVE_FATAL)
        }
    }

    private static func instance(at pointer: UnsafeMutableRawPointer?) -> ArchiveInput? {
        pointer.map { Unmanaged<ArchiveInput>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The number of bytes of a stored archive, or `nil` if the number is unknown or the input is decompressed.
    private var storedByteCount: Int? {
        if case .stored(let bytes) = origin { bytes.count } else { nil }
    }

    /// The size of the stored archive in bytes, or the number of bytes read so far if the size is unknown.
    var archivedByteCount: Int {
        switch origin {
        case .stored(let bytes): bytes.count ?? deliveredByteCount
        case .decompressed(let decompressor): decompressor.input.archivedByteCount
        }
    }

    /// Returns the number of bytes of the stored archive that `archive` has read.
    func offset(ofReader archive: OpaquePointer) -> Int {
        switch origin {
        case .stored: prefixSize + Int(archive_filter_bytes(archive, -1))
        case .decompressed(let decompressor): decompressor.offset
        }
    }

    /// The offset of the first unused byte in the stored archive.
    var offset: Int {
        switch origin {
        case .stored: position - unusedBytes.count
        case .decompressed(let decompressor): decompressor.offset
        }
    }

    /// Reads the next block if `unusedBytes` is empty.
    ///
    /// If `unusedBytes` is still empty after the call, the end of the input has been reached.
    func refill() throws {
        if unusedBytes.isEmpty { unusedBytes = try nextBlock() }
    }

    func consume(_ count: Int) { unusedBytes = UnsafeRawBufferPointer(rebasing: unusedBytes[count...]) }

    /// Reads and omits the bytes after the end of the compressed data.
    func omitRest() throws {
        while true {
            try refill()
            guard !unusedBytes.isEmpty else { return }
            guard allows(expandedSize: deliveredByteCount) else { throw ArchiveError(.overExpanded, at: offset) }
            omittedByteCount += unusedBytes.count { $0 != 0 }
            consume(unusedBytes.count)
        }
    }

    /// The number of omitted bytes, other than zeros, after the end of the compressed data at all levels.
    var trailingByteCount: Int {
        switch origin {
        case .stored: omittedByteCount
        case .decompressed(let decompressor): omittedByteCount + decompressor.input.trailingByteCount
        }
    }

    /// Reads the remaining compressed bytes to verify the checksum, which is stored at their end.
    ///
    /// If the archive is a tar archive, `tarEnd` is the number of bytes that libarchive read. The result is then whether
    /// another tar archive follows after zeros.
    func finish(tarEnd: Int?) throws -> Bool {
        var search = tarEnd.map { _ in TarSearch() }
        if let tarEnd {
            let blockStart = position - lastBlock.count
            search?.add(lastBlock.dropFirst(max(prefixSize + tarEnd - blockStart, 0)))
        }
        if search == nil, case .stored = origin { return false }
        while true {
            let block = try nextBlock()
            if block.isEmpty { break }
            search?.add(block[...])
            guard allows(expandedSize: deliveredByteCount) else { throw ArchiveError(.overExpanded, at: offset) }
            if case .stored = origin, search?.isFinished == true { break }
        }
        if case .decompressed(let decompressor) = origin { _ = try decompressor.input.finish(tarEnd: nil) }
        return search?.hasFoundTar ?? false
    }

    /// Returns whether the limits allow the archive to expand to `expandedSize` bytes.
    func allows(expandedSize: Int) -> Bool {
        !limits.isOverExpanded(expandedSize, from: archivedByteCount)
    }
}

// MARK: - Callbacks

extension ArchiveInput {
    /// Passes the next block to libarchive and returns its size, which is 0 at the end.
    private func read(for archive: OpaquePointer, _ start: UnsafeMutablePointer<UnsafeRawPointer?>) -> Int {
        do {
            // Checked here because libarchive makes no other call while it skips a member.
            guard allows(expandedSize: Int(archive_filter_bytes(archive, 0))) else {
                throw ArchiveError(.overExpanded, at: offset(ofReader: archive))
            }
            let block = try nextBlock()
            start.pointee = block.baseAddress
            return block.count
        } catch {
            callbackError = error
            return Int(ARCHIVE_FATAL)
        }
    }

    /// Returns the next block, which is valid until the next call and empty at the end.
    private func nextBlock() throws -> UnsafeRawBufferPointer {
        let block = try readBlock()
        position += block.count
        deliveredByteCount += block.count
        lastBlock = block
        return block
    }

    private func readBlock() throws -> UnsafeRawBufferPointer {
        switch origin {
        case .decompressed(let decompressor):
            if let block = firstBlock.take() { return block }
            return try decompressor.nextBlock()
        case .stored(let bytes):
            var output = OutputSpan(buffer: buffer, initializedCount: 0)
            output.append(fittingPrefixOf: heldBytes.span)
            var isAtEnd = false
            repeat {
                let count = output.count
                try fill(&output, from: bytes)
                isAtEnd = output.count == count
            } while omitsBytesAfterXZ && !isAtEnd && output.count <= InputLimits.xzTailSize
            let block = UnsafeRawBufferPointer(start: buffer.baseAddress, count: output.finalize(for: buffer))
            guard omitsBytesAfterXZ else { return block }
            let end = isAtEnd ? XZFooter.end(in: block) ?? block.count : max(block.count - InputLimits.xzTailSize, 0)
            heldBytes = isAtEnd ? [] : Array(block[end...])
            if isAtEnd {
                omittedByteCount += block[end...].count { $0 != 0 }
                position += block.count - end
            }
            return UnsafeRawBufferPointer(rebasing: block[..<end])
        }
    }

    /// Fills `output`, whose first byte is the byte at `position`.
    private func fill(_ output: inout OutputSpan<UInt8>, from bytes: ArchiveBytes) throws(FileError) {
        switch bytes {
        case .source(let source): try source.read(at: position + output.count, into: &output)
        case .standardInput(let head, let hash):
            for byte in head.dropFirst(position + output.count).prefix(output.freeCapacity) { output.append(byte) }
            let present = output.count
            try StandardInput.read(into: &output)
            hash?.update(output.span.extracting(present...))
        }
    }

    /// Skips up to `wanted` bytes and returns the number of skipped bytes.
    private func skip(_ wanted: Int64) -> Int64 {
        let skipped = min(max(wanted, 0), Int64(max((storedByteCount ?? 0) - position, 0)))
        position += Int(skipped)
        return skipped
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        let start = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? position : storedByteCount ?? 0
        let (target, overflow) = Int64(start).addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return Int64(ARCHIVE_FATAL) }
        position = Int(min(target, Int64(storedByteCount ?? 0)))
        return Int64(position)
    }
}

// MARK: - Further archives

/// A search for a tar archive in the bytes after the end of another one.
private struct TarSearch {
    private static let blockSize = 512

    private var block: [UInt8] = []
    /// Whether a block was found that does not consist of zeros.
    private(set) var isFinished = false
    /// Whether that block is the header of a tar archive.
    private(set) var hasFoundTar = false

    /// Adds the next bytes.
    mutating func add(_ bytes: Slice<UnsafeRawBufferPointer>) {
        var rest = bytes
        while !isFinished, !rest.isEmpty {
            let part = rest.prefix(Self.blockSize - block.count)
            block += part
            rest = rest.dropFirst(part.count)
            guard block.count == Self.blockSize else { return }
            isFinished = block.contains { $0 != 0 }
            hasFoundTar = isFinished && ArchiveFormat.isTar(block)
            block.removeAll(keepingCapacity: true)
        }
    }
}
