import Bundle
import Files
import Tar

/// The kind of an input, as its first bytes tell it.
public enum InputKind: Sendable {
    /// A zip, tar, 7z or cpio archive, or something compressed, which can only be one.
    case archive
    /// A bundle, or a part of one.
    case bundle
    /// Compressed with zstd as bundles are, and damaged where it would tell more.
    case damagedZstd
    /// The first bytes are of no known kind; the name or the rest may still tell.
    case other

    /// How many bytes are needed to tell the kind; a shorter input is told by all that it has.
    public static let headSize = 256 << 10

    /// The first bytes of a file.
    public static func head(of source: ByteSource) throws(FileError) -> [UInt8] {
        try source.bytes(at: 0, count: min(source.count, headSize))
    }

    /// Finds the kind of an input that begins with some bytes.
    public init(head: [UInt8]) {
        if Self.isZstd(head) {
            self = Self.ofZstd(head)
        } else {
            self = Self.isArchive(head) ? .archive : .other
        }
    }

    /// Whether an archive has to be at hand as a whole, for what tells its members stands at its end.
    public static func isReadFromTheEnd(head: [UInt8]) -> Bool {
        signatures.prefix(2).contains { head.starts(with: $0) }
    }

    /// Whether bytes are the beginning of what zstd compresses.
    public static func isZstd(_ head: [UInt8]) -> Bool { Compression(head: head) == .zstd }

    private static let signatures: [[UInt8]] = [
        Array("PK".utf8), [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C],
        Array("070701".utf8), Array("070702".utf8), Array("070707".utf8), [0xC7, 0x71], [0x71, 0xC7],
    ]

    private static func isArchive(_ head: [UInt8]) -> Bool {
        signatures.contains { head.starts(with: $0) } || isTar(head) || Compression(head: head) != nil
            || UnsupportedFormat.find(in: head) != nil
    }

    /// Whether bytes are the beginning of a tar archive.
    static func isTar(_ head: [UInt8]) -> Bool {
        // The first tar programs wrote no signature.
        head.dropFirst(257).starts(with: "ustar".utf8)
            || TarEntry.hasChecksum(head.span.extracting(first: TarEntry.blockSize))
    }

    /// Whether a path ends as those of archives do, which some tell by nothing else.
    public static func isArchive(named path: String) -> Bool { MemberNames.isArchive(path.utf8) }

    private static func ofZstd(_ head: [UInt8]) -> InputKind {
        do {
            var reader = try ArchiveReader(.source(ByteSource(head)), limits: ArchiveLimits())
            guard case .member(let member) = try reader.next() else { return .damagedZstd }
            let name = member.path.map { String(decoding: $0, as: UTF8.self) } ?? ""
            return BundleLayout.isMember(name) ? .bundle : .archive
        } catch {
            switch error.reason {
            // Opened as an archive, it says why it is not read.
            case .overLimit, .unsupportedFormat, .largeWindow, .empty: return .archive
            default: return .damagedZstd
            }
        }
    }
}
