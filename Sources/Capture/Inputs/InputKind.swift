import Bundle
import Bytes
import Files

/// The format of an input, detected by its first bytes.
public enum InputKind: Sendable {
    /// A zip, tar, 7z or cpio archive, a compressed file that must contain an archive, or an unsupported archive.
    case archive
    /// A bundle or a part of a bundle.
    case bundle
    /// An archive of the members of a bundle that another program made.
    case repackedBundle
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
        guard ArchiveFormat.isArchive(head) else { self = .other; return }
        self = ArchiveFormat.needsRandomAccess(head) ? .archive : Self.sequentialKind(head)
    }

    /// Returns whether `head` is the beginning of a zstd file.
    public static func isZstd(_ head: [UInt8]) -> Bool { Compression.zstd.matches(head) }

    /// Returns the kind of an archive that is read sequentially.
    private static func sequentialKind(_ head: [UInt8]) -> InputKind {
        do {
            var reader = try ArchiveReader(.source(ByteSource(head)), limits: ArchiveLimits())
            guard case .member(let first) = try reader.next() else { return isZstd(head) ? .damagedZstd : .archive }
            if isZstd(head), name(of: first) == BundleLayout.marker { return .bundle }
            return hasOnlyBundleMembers(after: first, in: &reader) ? .repackedBundle : .archive
        } catch {
            switch (error as? ArchiveError)?.reason {
            // Opening the archive reports why it cannot be read.
            case .overLimit, .unsupportedFormat, .largeWindow, .empty: return .archive
            default: return isZstd(head) ? .damagedZstd : .archive
            }
        }
    }

    private static func name(of member: ArchiveReader.Member) -> String {
        String(decoding: member.path ?? [], as: UTF8.self)
    }

    /// Returns whether all files at the beginning of an archive have names of bundle members, one of which no other
    /// program uses.
    private static func hasOnlyBundleMembers(
        after first: ArchiveReader.Member, in reader: inout ArchiveReader
    ) -> Bool {
        var member = first
        var isDistinctive = false
        while true {
            if member.kind == .file {
                guard let name = BundleLayout.memberName(atPath: name(of: member)) else { return false }
                isDistinctive =
                    isDistinctive || name != BundleLayout.manifest && BundleLayout.listName(ofMember: name) == nil
            }
            // The archive is cut off after the first bytes.
            guard case .member(let next)? = try? reader.next() else { return isDistinctive }
            member = next
        }
    }
}
