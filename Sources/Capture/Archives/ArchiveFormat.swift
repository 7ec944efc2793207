import Bundle
import Bytes
import Files

/// A format of archives, recognized by the first bytes of a file.
///
/// The table ``all`` and the cases of ``Compression`` are the only declaration of signatures and filename suffixes.
struct ArchiveFormat {
    /// The extent to which files of a format are read.
    private enum Support: Equatable {
        /// Files are read, but not from a stream.
        case withRandomAccess
        /// Files are read from beginning to end.
        case sequential
        /// Files are only detected, to name the format in messages.
        case none
    }

    /// The name of the format, including the indefinite article, such as "a RAR archive".
    let name: String
    private let signatures: [[UInt8]]
    /// The offset of the signature in the file, in bytes.
    private let signatureOffset: Int
    private let support: Support

    private init(_ name: String, _ signatures: [[UInt8]], at offset: Int = 0, _ support: Support = .none) {
        self.name = name
        self.signatures = signatures
        signatureOffset = offset
        self.support = support
    }

    private static let sevenZip = ArchiveFormat(
        "a 7z archive", [[0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]], .withRandomAccess)

    private static let cpio = ArchiveFormat(
        "a cpio archive", ["070701", "070702", "070707"].map { Array($0.utf8) } + [[0xC7, 0x71], [0x71, 0xC7]],
        .sequential)

    private static let all = [
        sevenZip,
        ArchiveFormat("a zip archive", [Array("PK".utf8)], .withRandomAccess),
        ArchiveFormat("a tar archive", [Array("ustar".utf8)], at: 257, .sequential),
        cpio,
        ArchiveFormat("a RAR archive", [Array("Rar!\u{1A}\u{07}".utf8)]),
        ArchiveFormat("an ISO 9660 image", [Array("CD001".utf8)], at: 0x8001),
        ArchiveFormat("a xar archive", [Array("xar!".utf8)]),
        ArchiveFormat("an ar archive or a Debian package", [Array("!<arch>\n".utf8)]),
        ArchiveFormat("a cabinet archive", [Array("MSCF\0\0\0\0".utf8)]),
        ArchiveFormat("a file compressed with lzip", [Array("LZIP".utf8)]),
        ArchiveFormat("a file compressed with lzma", [[0x5D, 0x00, 0x00]]),
        ArchiveFormat("a file compressed with lzop", [[0x89, 0x4C, 0x5A, 0x4F, 0x00]]),
        ArchiveFormat("a file compressed with lrzip", [Array("LRZI".utf8)]),
        ArchiveFormat("a file compressed with compress", [[0x1F, 0x9D]]),
    ]

    /// The number of first bytes that are needed to detect any of the formats.
    static let headSize = 0x8006

    /// Returns whether a file that begins with `head` may have this format.
    private func matches(_ head: [UInt8]) -> Bool {
        signatures.contains { head.dropFirst(signatureOffset).starts(with: $0) }
    }

    /// Returns whether a file that begins with `head` is an archive or a compressed file, even of an unsupported format.
    static func isArchive(_ head: [UInt8]) -> Bool {
        all.contains { $0.matches(head) } || isTar(head) || Compression(head: head) != nil
    }

    /// Returns whether a file that begins with `head`, and whose name need not be that of an archive, can be read as an
    /// archive.
    ///
    /// Zip and 7z archives are recognized by longer signatures than elsewhere. Other files count only if they contain a
    /// member.
    static func isReadable(_ head: [UInt8]) -> Bool {
        if sevenZip.matches(head) || [[3, 4], [5, 6]].contains(where: { head.starts(with: Array("PK".utf8) + $0) }) {
            return true
        }
        guard isArchive(head), unsupported(head, isInCompressedFile: false) == nil,
            // Any error means that the file is no archive.
            var reader = try? ArchiveReader(.source(ByteSource(head)), limits: ArchiveLimits())
        else { return false }
        if case .member? = try? reader.next() { return true }
        return false
    }

    /// Returns whether a file that begins with `head` is a zip or 7z archive, which requires random access.
    static func needsRandomAccess(_ head: [UInt8]) -> Bool {
        all.contains { $0.support == .withRandomAccess && $0.matches(head) }
    }

    /// Returns the unsupported format of a file that begins with `head`, or `nil` if the format is supported or unknown.
    ///
    /// 7z archives are supported only if they are not inside a compressed file.
    ///
    /// Signatures of fewer than `signatureSize` bytes are ignored.
    static func unsupported(_ head: [UInt8], isInCompressedFile: Bool, signatureSize: Int = 0) -> String? {
        let found = all.first {
            $0.support == .none && $0.signatures.allSatisfy { $0.count >= signatureSize } && $0.matches(head)
        }
        if let found { return found.name }
        return isInCompressedFile && sevenZip.matches(head) ? "\(sevenZip.name) inside a compressed file" : nil
    }

    static func isCpio(_ head: [UInt8]) -> Bool { cpio.matches(head) }

    static func isTar(_ head: [UInt8]) -> Bool {
        // The oldest tar programs write no signature.
        head.dropFirst(257).starts(with: "ustar".utf8) || hasTarChecksum(head.prefix(512))
    }

    /// Returns whether the first block of a file has the checksum of a tar header.
    ///
    /// The checksum is the sum of all bytes, with each byte of the checksum field counted as a space. Sums of signed
    /// bytes are accepted too, because some old programs write them.
    private static func hasTarChecksum(_ block: ArraySlice<UInt8>) -> Bool {
        let field = 148..<156
        guard block.count == 512 else { return false }
        let digits = block[field].drop { $0 == UInt8(ascii: " ") }.prefix { $0.isOctalDigit }
        guard !digits.isEmpty,
            block[digits.endIndex..<field.upperBound].allSatisfy({ [0, UInt8(ascii: " ")].contains($0) })
        else { return false }
        let stored = digits.reduce(0) { $0 << 3 | Int($1 - UInt8(ascii: "0")) }
        let others = block[..<field.lowerBound] + block[field.upperBound...]
        let sum = others.reduce(field.count * Int(UInt8(ascii: " "))) { $0 + Int($1) }
        return stored == sum || stored == sum - 0x100 * others.count { $0 >= 0x80 }
    }
}

// MARK: - Names

extension ArchiveFormat {
    /// The lowercase suffixes of archive names, which are compared without regard to case.
    private static let suffixes =
        [".zip", ".7z", ".tar", ".cpio"]
        + Compression.allCases.flatMap { [".tar\($0.suffix)", ".cpio\($0.suffix)"] + $0.tarSuffixes }

    /// The lowercase suffixes of other files that are archives if their first bytes are those of an archive.
    private static let otherSuffixes = [".clbx", ".cpgz", ".imazingapp", ".ipa", ".pax", ".saz", ".ufdr"]
    /// The lowercase suffixes of archives and captures in formats that are not read.
    private static let unreadSuffixes = [
        ".aar", ".ab", ".ad1", ".aea", ".cab", ".cap", ".chls", ".dmg", ".e01", ".ex01", ".flow", ".flows", ".iso",
        ".l01",
        ".lz",
        ".lzma", ".lzo", ".mitm", ".pcap", ".pcapng", ".rar", ".tar.z", ".xar", ".yaa", splitSuffix,
    ]
    /// The suffix of the first part of a split archive.
    static let splitSuffix = ".001"

    /// Returns whether a file called `name` may be an archive that is read.
    static func mayBeArchive(named name: some BidirectionalCollection<UInt8>) -> Bool {
        isArchive(named: name) || otherSuffixes.contains(where: name.hasSuffixIgnoringCase)
    }

    /// Returns whether a file called `name` may be an archive or a capture in a format that is not read.
    static func mayBeUnread(named name: some BidirectionalCollection<UInt8>) -> Bool {
        unreadSuffixes.contains(where: name.hasSuffixIgnoringCase)
    }

    /// The lowercase suffixes of files that are no archives.
    private static let ordinarySuffixes = [
        ".css", ".csv", ".db", ".gif", ".heic", ".htm", ".html", ".jpeg", ".jpg", ".js", ".json", ".jsonl", ".log",
        ".m4a", ".md", ".mov", ".mp3", ".mp4", ".ndjson", ".pdf", ".plist", ".png", ".sha256", ".sig", ".sqlite",
        ".sqlite3",
        ".sqlitedb", ".strings", ".txt",
    ]

    /// Returns whether only the first bytes of a file called `name`, which is not in the container of an app, can show
    /// that it is an archive.
    static func mustBeInspected(named name: some BidirectionalCollection<UInt8>) -> Bool {
        !BackupDetector.isBackupFileName(name) && !ordinarySuffixes.contains(where: name.hasSuffixIgnoringCase)
    }

    static func isArchive(named name: some BidirectionalCollection<UInt8>) -> Bool {
        removingSuffix(from: name) != nil
    }

    /// Returns `name` without the suffix of an archive, or `nil` if `name` has no such suffix.
    static func removingSuffix(from name: some BidirectionalCollection<UInt8>) -> String? {
        let suffix = suffixes.first(where: name.hasSuffixIgnoringCase)
        return suffix.map { String(decoding: name.dropLast($0.utf8.count), as: UTF8.self) }
    }
}

// MARK: - Compression

/// A compression format of archives and request logs, recognized by the first bytes of a file.
enum Compression: CaseIterable {
    case gzip, xz, zstd, bzip2, lz4

    /// Detects the compression by the first bytes of a file, or returns `nil` if the bytes match no compression.
    init?(head: [UInt8]) {
        guard let found = Self.allCases.first(where: { $0.matches(head) }) else { return nil }
        self = found
    }

    /// Returns whether a file that begins with `head` has this compression.
    func matches(_ head: [UInt8]) -> Bool { signatures.contains { head.starts(with: $0) } }

    private var signatures: [[UInt8]] {
        switch self {
        case .gzip: [[0x1F, 0x8B]]
        case .xz: [[0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]]
        // The file begins with a frame, or with a skippable frame, which parallel compressors write first.
        case .zstd: [FrameDecoder.magic] + (0x50...0x5F).map { [$0, 0x2A, 0x4D, 0x18] }
        case .bzip2: [Array("BZh".utf8)]
        // The current frame format and the legacy format.
        case .lz4: [[0x04, 0x22, 0x4D, 0x18], [0x02, 0x21, 0x4C, 0x18]]
        }
    }

    /// The filename suffix of compressed files.
    var suffix: String {
        switch self {
        case .gzip: ".gz"
        case .xz: ".xz"
        case .zstd: ".zst"
        case .bzip2: ".bz2"
        case .lz4: ".lz4"
        }
    }

    /// The short filename suffixes of compressed tar archives.
    fileprivate var tarSuffixes: [String] {
        switch self {
        case .gzip: [".tgz"]
        case .xz: [".txz"]
        case .zstd: [".tzst"]
        case .bzip2: [".tbz", ".tbz2"]
        case .lz4: []
        }
    }
}
