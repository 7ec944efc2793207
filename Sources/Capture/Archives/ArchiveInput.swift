import Bundle
import CArchive
import Files
import Glibc

/// Where the bytes of an archive come from.
public enum ArchiveBytes: Sendable {
    /// A file, a part of the spool, or memory.
    case source(ByteSource)
    /// The standard input, which has given these bytes already.
    case standardInput(head: [UInt8])

    /// How many there are, as far as that is known.
    var count: Int? {
        if case .source(let source) = self { source.count } else { nil }
    }
}

/// Feeds libarchive, which never opens a file itself, and watches how much it makes of what it gets.
///
/// A class, for libarchive keeps a pointer to it.
final class ArchiveInput {
    /// Why reading failed.
    private(set) var failure: FileError?
    /// Whether decompression gave more than the limits allow.
    private(set) var isOverExpanded = false
    /// How many bytes were handed over, repeated ones too.
    private(set) var delivered = 0
    private let bytes: ArchiveBytes
    private let limits: ArchiveLimits
    private var position = 0
    private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 128 << 10)

    init(_ bytes: ArchiveBytes, _ limits: ArchiveLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    deinit { buffer.deallocate() }

    /// Sets the callbacks of a reader. The input has to outlive it.
    func attach(to archive: OpaquePointer) {
        archive_read_set_callback_data(archive, Unmanaged.passUnretained(self).toOpaque())
        archive_read_set_read_callback(archive) { archive, input, start in
            start?.pointee = nil
            guard let archive, let start, let input = ArchiveInput.from(input) else { return Int(ARCHIVE_FATAL) }
            return input.read(for: archive, start)
        }
        guard bytes.count != nil else { return }
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

    /// Whether so many bytes made of the input so far are within the limits.
    func allows(expanded: Int) -> Bool {
        !limits.isOverExpanded(expanded, from: bytes.count ?? delivered)
    }
}

// MARK: - Callbacks

extension ArchiveInput {
    /// Hands over the next bytes; 0 at the end.
    private func read(for archive: OpaquePointer, _ start: UnsafeMutablePointer<UnsafeRawPointer?>) -> Int {
        // Asked here, for while libarchive skips a member it calls nothing else.
        guard allows(expanded: Int(archive_filter_bytes(archive, 0))) else {
            isOverExpanded = true
            return Int(ARCHIVE_FATAL)
        }
        do throws(FileError) {
            var output = OutputSpan(buffer: buffer, initializedCount: 0)
            try fill(&output)
            let count = output.finalize(for: buffer)
            start.pointee = UnsafeRawPointer(buffer.baseAddress)
            position += count
            delivered += count
            return count
        } catch {
            failure = error
            return Int(ARCHIVE_FATAL)
        }
    }

    private func fill(_ output: inout OutputSpan<UInt8>) throws(FileError) {
        switch bytes {
        case .source(let source): try source.read(at: position, into: &output)
        case .standardInput(let head):
            for byte in head.dropFirst(position).prefix(output.freeCapacity) { output.append(byte) }
            try StandardInput.read(into: &output)
        }
    }

    /// Passes over bytes, at most to the end of the input.
    private func skip(_ count: Int64) -> Int64 {
        let skipped = min(max(count, 0), Int64(max((bytes.count ?? 0) - position, 0)))
        position += Int(skipped)
        return skipped
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        let start = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? position : bytes.count ?? 0
        let (target, overflow) = Int64(start).addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return Int64(ARCHIVE_FATAL) }
        position = Int(min(target, Int64(bytes.count ?? 0)))
        return Int64(position)
    }
}
