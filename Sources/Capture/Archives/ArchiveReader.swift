import Bytes
import CArchive
import CLibrary
import Files

/// A sequential reader for the members of a zip, tar, 7z or cpio archive, based on libarchive.
///
/// Tar and cpio archives may be compressed. Reading does not open paths or run other programs.
struct ArchiveReader: ~Copyable {
    struct Member {
        let path: [UInt8]?
        let kind: FolderEntry.Kind
        let hardLink: [UInt8]?
        let symbolicLink: [UInt8]?
        let size: Int?
        let isEncrypted: Bool
        /// Whether the member is in a zip archive, which stores names in UTF-8 or in code page 437.
        let isInZip: Bool
        /// The offset of the header in the decompressed archive, in bytes.
        let offset: Int
    }

    /// The formats that a reader accepts.
    enum Formats: Equatable {
        case all
        /// Only tar, because libarchive would read a tar archive that ends like a zip archive as a zip archive.
        case tar
        /// Only cpio, for the same reason.
        case cpio
        /// Only zip, read from front to back without its central directory, beginning at the given offset.
        case sequentialZip(from: Int)
    }

    enum Step {
        case member(Member)
        /// Damaged bytes, after which more members may follow.
        case damage(any Error)
        /// The end of the archive. `isMarked` states whether an end marker precedes it.
        case end(isMarked: Bool)
    }

    /// The result of reading the bytes of a member.
    enum Outcome {
        case complete
        case tooLarge
        case damaged(String)
        case unsupported(String)
    }

    /// The maximum size, in bytes, of the parts in which the contents of members are read.
    static let partSize = 256 << 10

    private let handle: ArchiveHandle
    /// The number of decompressed bytes of all members so far.
    private var expandedByteCount = 0
    private var hasStarted = false
    private let formats: Formats

    /// Opens an archive in one of the formats in `formats`.
    init(_ bytes: ArchiveBytes, limits: ArchiveLimits, formats: Formats = .all) throws {
        self.formats = formats
        handle = try ArchiveHandle.open(ArchiveInput.decompressing(bytes, limits), formats)
    }

    private var archive: OpaquePointer { handle.archive }
}

// MARK: - Members

extension ArchiveReader {
    /// Returns the next member, or reports damage or the end of the archive.
    ///
    /// After an error is thrown, nothing more can be read.
    mutating func next() throws -> Step {
        let outer = uselocale(handle.locale)
        defer { uselocale(outer) }
        if case .sequentialZip = formats, hasStarted { try skipContents() }
        var entry: OpaquePointer?
        switch archive_read_next_header(archive, &entry) {
        case ARCHIVE_EOF: return .end(isMarked: hasEndMark)
        case ARCHIVE_RETRY: return .damage(lastError())
        case ARCHIVE_OK, ARCHIVE_WARN: break
        default: throw lastError()
        }
        guard let entry else { throw lastError() }
        hasStarted = true
        guard handle.input.allows(expandedSize: Int(archive_filter_bytes(archive, 0))) else {
            throw ArchiveError(.overExpanded, at: handle.offset)
        }
        let member = Member(
            entry, at: handle.input.prefixSize + Int(archive_read_header_position(archive)),
            isInZip: archive_format(archive) == ARCHIVE_FORMAT_ZIP)
        // In a 7z archive, skipping a member means decompressing it.
        if archive_format(archive) == ARCHIVE_FORMAT_7ZIP { try addExpanded(member.size ?? 0) }
        return .member(member)
    }

    /// Reads the bytes after the last member, and verifies the checksums of compressions.
    ///
    /// Returns whether another tar archive follows the end of a tar archive. `tar` ignores it, too.
    func finish() throws -> Bool {
        let isTar = archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK == ARCHIVE_FORMAT_TAR
        return try handle.input.finish(tarEnd: isTar ? Int(archive_filter_bytes(archive, 0)) : nil)
    }

    /// Whether the archive is a zip archive.
    var isZip: Bool { archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK == ARCHIVE_FORMAT_ZIP }

    /// The number of bytes, other than zeros, that were omitted after the end of the compressed archive.
    var trailingByteCount: Int { handle.input.trailingByteCount }

    /// Calls `body` with consecutive parts of the contents of the current member.
    ///
    /// Stops if the contents exceed `limit` bytes. After an error is thrown, nothing more can be read.
    ///
    /// `size` is the size of the contents that the header states. libarchive omits the zeros at the end of a sparse file.
    mutating func read(limit: Int, size: Int?, _ body: (Span<UInt8>) throws -> Void) throws -> Outcome {
        var total = 0
        while true {
            let count = archive_read_data(archive, handle.buffer.baseAddress, handle.buffer.count)
            guard count != 0 else {
                let isTar = archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK == ARCHIVE_FORMAT_TAR
                return try addZeros(isTar ? max(0, (size ?? 0) - total) : 0, room: limit - total, body)
            }
            guard count > 0 else {
                let failure = lastError()
                guard count > Int(ARCHIVE_FATAL) else { throw failure }
                switch (failure as? ArchiveError)?.reason {
                case .damaged(let words)?: return .damaged(words)
                case .unsupportedFormat(let words)?: return .unsupported(words)
                default: throw failure
                }
            }
            total += count
            guard total <= limit else { return .tooLarge }
            if archive_format(archive) != ARCHIVE_FORMAT_7ZIP { try addExpanded(count) }
            try body(UnsafeBufferPointer(rebasing: handle.buffer[..<count]).span)
        }
    }

    private mutating func addZeros(
        _ count: Int, room: Int, _ body: (Span<UInt8>) throws -> Void
    ) throws -> Outcome {
        guard count <= room else { return .tooLarge }
        try addExpanded(count)
        let zeros = [UInt8](repeating: 0, count: min(count, Self.partSize))
        var rest = count
        while rest > 0 {
            try body(zeros.span.extracting(first: min(rest, zeros.count)))
            rest -= min(rest, zeros.count)
        }
        return .complete
    }

    /// Adds the contents of the current member to `inflation`, and returns their location.
    ///
    /// Returns `nil` if libarchive must read them.
    mutating func inflatedContents(
        of member: Member, by inflation: inout ZipInflation?
    ) throws -> SpooledTree.Contents? {
        guard inflation != nil, member.isInZip, member.hardLink == nil, let size = member.size,
            let contents = try inflation?.add(contentsAt: Int(archive_filter_bytes(archive, 0)), count: size)
        else { return nil }
        try addExpanded(size)
        return contents
    }

    /// Reads the rest of the current member.
    ///
    /// libarchive would decompress it without a limit, or end it at the first bytes that look like the end of a member.
    private mutating func skipContents() throws {
        while true {
            let count = archive_read_data(archive, handle.buffer.baseAddress, handle.buffer.count)
            // The next header reports damage after which nothing can be read.
            guard count > 0 else { return }
            try addExpanded(count)
        }
    }

    private mutating func addExpanded(_ count: Int) throws {
        expandedByteCount = expandedByteCount.addingReportingOverflow(max(count, 0)).partialValue
        guard expandedByteCount >= 0, handle.input.allows(expandedSize: expandedByteCount) else {
            throw ArchiveError(.overExpanded, at: handle.offset)
        }
    }

    /// Whether a tar archive has an end mark, or the archive is not a tar archive.
    ///
    /// Without an end mark, a tar archive may be truncated between two members.
    private var hasEndMark: Bool {
        archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK != ARCHIVE_FORMAT_TAR
            || archive_filter_bytes(archive, 0) > archive_read_header_position(archive)
    }

    private func lastError() -> any Error {
        handle.lastError(hasStarted: hasStarted)
    }
}

extension ArchiveReader.Member {
    fileprivate init(_ entry: OpaquePointer, at offset: Int, isInZip: Bool) {
        path = Self.bytes(ofCString: archive_entry_pathname(entry)).map { Self.replacingBackslashes(in: $0) }
        hardLink = Self.bytes(ofCString: archive_entry_hardlink(entry)).map { Self.replacingBackslashes(in: $0) }
        symbolicLink = Self.bytes(ofCString: archive_entry_symlink(entry))
        size = archive_entry_size_is_set(entry) != 0 ? Int(archive_entry_size(entry)) : nil
        isEncrypted = archive_entry_is_data_encrypted(entry) != 0
        self.isInZip = isInZip
        self.offset = offset
        kind =
            switch carchive_entry_type(entry) {
            case carchive_file: path?.last == Self.slash ? .folder : .file
            case carchive_folder: .folder
            case carchive_link: .link
            default: hardLink == nil ? .special : .file
            }
    }

    private static let slash = UInt8(ascii: "/")

    /// Returns `path` with slashes in place of backslashes, or unchanged if it contains a slash.
    ///
    /// Some programs for Windows separate folders by backslashes. libarchive replaces them only in zip archives.
    private static func replacingBackslashes(in path: [UInt8]) -> [UInt8] {
        let backslash = UInt8(ascii: "\\")
        guard path.contains(backslash), !path.contains(slash) else { return path }
        return path.map { $0 == backslash ? slash : $0 }
    }

    private static func bytes(ofCString text: UnsafePointer<CChar>?) -> [UInt8]? {
        text.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
}

/// The libarchive handle of an archive and the resources that are released with it.
private struct ArchiveHandle: ~Copyable {
    let archive: OpaquePointer
    let input: ArchiveInput
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: ArchiveReader.partSize)
    /// The locale that makes libarchive convert names to UTF-8.
    let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)

    static func open(_ input: ArchiveInput, _ formats: ArchiveReader.Formats) throws -> ArchiveHandle {
        guard let archive = archive_read_new() else { throw ArchiveError(.unsupported("not enough memory")) }
        let handle = ArchiveHandle(archive: archive, input: input)
        if case .sequentialZip(let start) = formats { input.skipPrefix(start) }
        try handle.enable(formats)
        input.attach(to: archive)
        guard archive_read_open1(archive) == ARCHIVE_OK else {
            throw input.callbackError ?? ArchiveError(.unknownFormat)
        }
        return handle
    }

    deinit {
        archive_read_free(archive)
        buffer.deallocate()
        if let locale { freelocale(locale) }
    }

    /// Enables formats.
    ///
    /// Other formats remain disabled, because each one exposes more code to hostile bytes. ``ArchiveInput`` removes
    /// compressions.
    private func enable(_ formats: ArchiveReader.Formats) throws {
        let functions =
            switch formats {
            case .all:
                [
                    archive_read_support_format_tar, archive_read_support_format_zip, archive_read_support_format_7zip,
                    archive_read_support_format_cpio,
                ]
            case .tar: [archive_read_support_format_tar]
            case .cpio: [archive_read_support_format_cpio]
            case .sequentialZip: [archive_read_support_format_zip_streamable]
            }
        for enable in functions where enable(archive) != ARCHIVE_OK {
            throw ArchiveError(.unsupported("this libarchive was built without a format that is needed"))
        }
    }

    /// The number of bytes of the stored archive that were read.
    var offset: Int { input.offset(ofReader: archive) }

    /// Returns the error for the call that failed.
    ///
    /// This method must not be called if opening failed, because libarchive would dereference a null pointer.
    func lastError(hasStarted: Bool) -> any Error {
        if let failure = input.callbackError { return failure }
        if !hasStarted, archive_read_has_encrypted_entries(archive) == 1 { return ArchiveError(.encrypted) }
        return ArchiveError(ofLibarchive: archive_error_string(archive).map { String(cString: $0) }, at: offset)
    }
}

// MARK: - Errors

/// An error that prevents an archive from being read completely.
public struct ArchiveError: Error, Sendable, CustomStringConvertible {
    /// The cause of an archive error.
    public enum Reason: Sendable {
        /// The bytes are in none of the supported formats.
        case unknownFormat
        /// The archive is damaged. The value describes the damage.
        case damaged(String)
        /// The checksum of a compressed stream is wrong, so that any member of the archive may be altered.
        case checksum(String)
        /// The archive is encrypted, including the names of its members.
        case encrypted
        /// The archive exceeds a limit, which the value describes.
        case overLimit(String)
        /// A few bytes expand to an excessive size, as in a decompression bomb.
        case overExpanded
        /// The installed libarchive lacks a required feature, or there is not enough memory.
        case unsupported(String)
        /// The format or the compression method is recognized, but not supported.
        case unsupportedFormat(String)
        /// A zstd frame needs a larger window than the decoder accepts.
        case largeWindow
        /// A compressed file has no contents.
        case empty
    }

    /// The cause of the error.
    public let reason: Reason
    /// The offset of the error in the archive, in bytes, or `nil` if it is unknown.
    public let offset: Int?

    init(_ reason: Reason, at offset: Int? = nil) {
        self.reason = reason
        self.offset = offset
    }

    /// Creates an error from an error message of libarchive.
    ///
    /// The message determines the reason, because libarchive has no error codes for unsupported features. If `message`
    /// is `nil`, the reason is damage.
    init(ofLibarchive message: String?, at offset: Int) {
        let words = message ?? "the archive does not continue as its format requires"
        let reason: Reason =
            if words.contains("too much memory") {
                .largeWindow
            } else if ["nsupported", "not supported", "codec ID"].contains(where: words.contains) {
                .unsupportedFormat(words)
            } else {
                .damaged(words)
            }
        self.init(reason, at: offset)
    }

    /// A description of the error.
    public var description: String {
        let position = offset.map { " at byte \($0)" } ?? ""
        return switch reason {
        case .unknownFormat: "no archive of a kind that is read"
        case .damaged(let words), .checksum(let words): "damaged\(position): \(words)"
        case .encrypted: "encrypted"
        case .overLimit(let words): "more than \(words)\(position)"
        case .overExpanded: "expands beyond all measure\(position)"
        case .unsupported(let words), .unsupportedFormat(let words): words
        case .largeWindow: "compressed with zstd and a window of more than 128 MiB"
        case .empty: "an empty file was compressed"
        }
    }

    /// The suggested next step for the user, or `nil` if there is none.
    public var remedy: String? {
        switch reason {
        case .unknownFormat: "pass a zip, tar (also .gz, .xz, .zst, .bz2, .lz4), 7z or cpio archive"
        case .damaged: "pack the capture again, or unpack the readable part and pass the folder"
        case .checksum: "get another copy of the archive, because files in this one may be altered"
        case .encrypted, .overLimit, .overExpanded, .unsupportedFormat: "unpack the archive and pass the folder"
        case .largeWindow: "decompress the file with zstd -d --long=31 and pass the result"
        case .unsupported, .empty: nil
        }
    }
}
