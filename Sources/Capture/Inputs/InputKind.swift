import Bundle
import Files
import Tar

/// The format of an input, detected by its first bytes.
public enum InputKind: Sendable {
    /// A zip, tar, 7z or cpio archive, a compressed file that must contain an archive, or an unsupported archive.
    case archive
    /// A bundle or a part of a bundle.
    case bundle
    /// A zstd file that is too damaged to determine whether it is a bundle or an archive.
    case damagedZstd
    /// Another format, which may be identified by the name or the rest of the file.
    case other

    /// The number of first bytes that are needed to detect the format, unless the input is shorter.
    public static let headSize = 256 << 10

    /// Returns the first bytes of `source`, up to `headSize`.
    public static func head(of source: ByteSource) throws(FileError) -> [UInt8] {
        try source.bytes(at: 0, count: min(source.count, headSize))
    }

    /// Detects the format of an input by its first bytes.
    public init(head: [UInt8]) {
        if Self.isZstd(head) {
            self = Self.zstdKind(head)
        } else {
            self = Self.isArchive(head) ? .archive : .other
        }
    }

    /// Returns whether `head` is the beginning of a zip or 7z archive, which requires random access.
    static func needsRandomAccess(head: [UInt8]) -> Bool {
        signatures.prefix(2).contains { head.starts(with: $0) }
    }

    /// Returns whether `head` is the beginning of a zstd file.
    public static func isZstd(_ head: [UInt8]) -> Bool { Compression(head: head) == .zstd }

    private static let signatures: [[UInt8]] = [
        Array("PK".utf8), [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C],
        Array("070701".utf8), Array("070702".utf8), Array("070707".utf8), [0xC7, 0x71], [0x71, 0xC7],
    ]

    private static func isArchive(_ head: [UInt8]) -> Bool {
        signatures.contains { head.starts(with: $0) } || isTar(head) || Compression(head: head) != nil
            || UnsupportedFormat.find(in: head) != nil
    }

    static func isTar(_ head: [UInt8]) -> Bool {
        // The oldest tar programs write no signature.
        head.dropFirst(257).starts(with: "ustar".utf8)
            || TarEntry.hasChecksum(head.span.extracting(first: TarEntry.blockSize))
    }

    /// Returns whether `path` has the suffix of an archive.
    public static func isArchive(named path: String) -> Bool { MemberNames.isArchive(path.utf8) }

    private static func zstdKind(_ head: [UInt8]) -> InputKind {
        do {
            var reader = try ArchiveReader(.source(ByteSource(head)), limits: ArchiveLimits())
            guard case .member(let member) = try reader.next() else { return .damagedZstd }
            let name = member.path.map { String(decoding: $0, as: UTF8.self) } ?? ""
            return BundleLayout.isMember(name) ? .bundle : .archive
        } catch {
            switch error.reason {
            // Opening the archive reports why it cannot be read.
            case .overLimit, .unsupportedFormat, .largeWindow, .empty: return .archive
            default: return .damagedZstd
            }
        }
    }
}
