import CArchive
import Files
import Glibc

/// An archive that is read member by member, front to back: zip, tar, 7z and cpio, tar and cpio also compressed.
///
/// No path is opened and no program is run.
struct ArchiveReader: ~Copyable {
    struct Member {
        /// The path as stored; nil if it cannot be told in UTF-8.
        let path: [UInt8]?
        let kind: FolderEntries.Kind
        /// The path of the member that it is another name of.
        let hardLink: [UInt8]?
        /// Where it leads, if it is a symbolic link and says so.
        let symbolicLink: [UInt8]?
        /// The size in bytes, where it is told in front.
        let size: Int?
        let isEncrypted: Bool
        /// Whether the archive is a zip, which knows two character sets.
        let isZip: Bool
        /// Where its header begins, in the archive after decompression.
        let offset: Int
    }

    enum Step {
        case member(Member)
        /// Damage, after which there may be more.
        case gap(ArchiveError)
        /// The end, and whether it is marked as one.
        case end(isMarked: Bool)
    }

    /// The result of reading the bytes of a member.
    enum Outcome {
        case complete
        /// There is more than was asked for.
        case tooLarge
        case damaged(String)
        /// The member has a method of compression that cannot be read.
        case unsupported(String)
    }

    private let handle: ArchiveHandle
    /// Bytes of members that were decompressed, beside those of the whole archive.
    private var expanded = 0
    private var hasBegun = false

    /// - Parameter isTar: Whether the archive begins as a tar. libarchive would read a tar that ends as a zip as the zip.
    init(_ bytes: ArchiveBytes, limits: ArchiveLimits, isTar: Bool = false) throws(ArchiveError) {
        handle = try ArchiveHandle.open(ArchiveInput.opening(bytes, limits), isTar: isTar)
    }

    private var archive: OpaquePointer { handle.archive }
}

// MARK: - Members

extension ArchiveReader {
    /// Returns the next member. After an error nothing more can be read.
    mutating func next() throws(ArchiveError) -> Step {
        let outer = uselocale(handle.locale)
        defer { uselocale(outer) }
        var entry: OpaquePointer?
        switch archive_read_next_header(archive, &entry) {
        case ARCHIVE_EOF: return .end(isMarked: hasEndMark)
        case ARCHIVE_RETRY: return .gap(failure())
        case ARCHIVE_OK, ARCHIVE_WARN: break
        default: throw failure()
        }
        guard let entry else { throw failure() }
        hasBegun = true
        guard handle.input.allows(expanded: Int(archive_filter_bytes(archive, 0))) else {
            throw ArchiveError(.overExpanded, at: handle.offset)
        }
        let member = Member(
            entry, at: Int(archive_read_header_position(archive)), isZip: archive_format(archive) == ARCHIVE_FORMAT_ZIP)
        // In this format, passing over a member means to decompress it.
        if archive_format(archive) == ARCHIVE_FORMAT_7ZIP { try count(member.size ?? 0) }
        return .member(member)
    }

    /// Reads what is behind the last member, and compares the checksums of compressions.
    func finish() throws(ArchiveError) { try handle.input.finish() }

    /// Calls `body` with the bytes of the member, part by part, up to `limit` bytes. After an error nothing more can be read.
    mutating func read(limit: Int, _ body: (Span<UInt8>) throws(ArchiveError) -> Void) throws(ArchiveError) -> Outcome {
        var total = 0
        while true {
            let count = archive_read_data(archive, handle.buffer.baseAddress, handle.buffer.count)
            guard count != 0 else { return .complete }
            guard count > 0 else {
                let failure = failure()
                guard count > Int(ARCHIVE_FATAL) else { throw failure }
                switch failure.reason {
                case .damaged(let words): return .damaged(words)
                case .unsupportedFormat(let words): return .unsupported(words)
                default: throw failure
                }
            }
            total += count
            guard total <= limit else { return .tooLarge }
            if archive_format(archive) != ARCHIVE_FORMAT_7ZIP { try self.count(count) }
            try body(UnsafeBufferPointer(rebasing: handle.buffer[..<count]).span)
        }
    }

    private mutating func count(_ bytes: Int) throws(ArchiveError) {
        expanded = expanded.addingReportingOverflow(max(bytes, 0)).partialValue
        guard expanded >= 0, handle.input.allows(expanded: expanded) else {
            throw ArchiveError(.overExpanded, at: handle.offset)
        }
    }

    /// Whether something marks the end of a tar archive, so that it was not cut between two members.
    private var hasEndMark: Bool {
        archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK != ARCHIVE_FORMAT_TAR
            || archive_filter_bytes(archive, 0) > archive_read_header_position(archive)
    }

    private func failure() -> ArchiveError {
        handle.failure(hasBegun: hasBegun)
    }
}

extension ArchiveReader.Member {
    fileprivate init(_ entry: OpaquePointer, at offset: Int, isZip: Bool) {
        path = Self.bytes(archive_entry_pathname(entry))
        hardLink = Self.bytes(archive_entry_hardlink(entry))
        symbolicLink = Self.bytes(archive_entry_symlink(entry))
        size = archive_entry_size_is_set(entry) != 0 ? Int(archive_entry_size(entry)) : nil
        isEncrypted = archive_entry_is_data_encrypted(entry) != 0
        self.isZip = isZip
        self.offset = offset
        kind =
            switch carchive_entry_type(entry) {
            case carchive_file: .file
            case carchive_folder: .folder
            case carchive_link: .link
            default: hardLink == nil ? .special : .file
            }
    }

    private static func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8]? {
        text.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
}

/// The handles that have to be released when an archive has been read.
private struct ArchiveHandle: ~Copyable {
    let archive: OpaquePointer
    let input: ArchiveInput
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 256 << 10)
    /// Names are converted to the character set of the locale, and UTF-8 holds them all.
    let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)

    static func open(_ input: ArchiveInput, isTar: Bool) throws(ArchiveError) -> ArchiveHandle {
        guard let archive = archive_read_new() else { throw ArchiveError(.unsupported("not enough memory")) }
        let handle = ArchiveHandle(archive: archive, input: input)
        try handle.enable(isTar: isTar)
        input.attach(to: archive)
        guard archive_read_open1(archive) == ARCHIVE_OK else {
            throw input.failure ?? ArchiveError(.unknownFormat)
        }
        return handle
    }

    deinit {
        archive_read_free(archive)
        buffer.deallocate()
        if let locale { freelocale(locale) }
    }

    /// Only what is promised: every further format is more code that hostile bytes reach. No compression: the input has
    /// none any more.
    private func enable(isTar: Bool) throws(ArchiveError) {
        let others = [
            archive_read_support_format_zip, archive_read_support_format_7zip, archive_read_support_format_cpio,
        ]
        for enable in [archive_read_support_format_tar] + (isTar ? [] : others) where enable(archive) != ARCHIVE_OK {
            throw ArchiveError(.unsupported("this libarchive was built without a format that is needed"))
        }
    }

    /// How far the archive was read, in bytes as it lies there.
    var offset: Int { input.offset(ofReader: archive) }

    /// What libarchive says of the call that failed. Not for one that failed to open: in asking for encryption it would
    /// follow a pointer to no format then.
    func failure(hasBegun: Bool) -> ArchiveError {
        if let failure = input.failure { return failure }
        if !hasBegun, archive_read_has_encrypted_entries(archive) == 1 { return ArchiveError(.encrypted) }
        return ArchiveError(ofLibarchive: archive_error_string(archive).map { String(cString: $0) }, at: offset)
    }
}
