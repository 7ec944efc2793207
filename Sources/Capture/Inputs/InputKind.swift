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
        guard Self.isArchive(head) else { self = .other; return }
        self = Self.needsRandomAccess(head: head) ? .archive : Self.sequentialKind(head)
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

    /// Returns whether `path` has the suffix of an archive.
    public static func isArchive(named path: String) -> Bool { MemberNames.isArchive(path.utf8) }

    /// Returns the kind of an archive that is read sequentially.
    private static func sequentialKind(_ head: [UInt8]) -> InputKind {
        do {
            var reader = try ArchiveReader(.source(ByteSource(head)), limits: ArchiveLimits())
            guard case .member(let first) = try reader.next() else { return isZstd(head) ? .damagedZstd : .archive }
            if isZstd(head), name(of: first) == BundleLayout.marker { return .bundle }
            return hasOnlyBundleMembers(after: first, in: &reader) ? .repackedBundle : .archive
        } catch {
            switch error.reason {
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

// MARK: - Unsupported formats

/// An unsupported archive or compression format, which is detected only to name it in messages.
struct UnsupportedFormat {
    /// The name of the format, including the indefinite article, such as "a RAR archive".
    let name: String
    private let signature: [UInt8]
    /// The offset of the signature in the file, in bytes.
    private var signatureOffset = 0

    private init(_ name: String, _ signature: some Sequence<UInt8>, at offset: Int = 0) {
        self.name = name
        self.signature = Array(signature)
        signatureOffset = offset
    }

    /// A 7z archive inside a compressed file.
    ///
    /// 7z archives are supported only if they are not inside a compressed file.
    static let sevenZip = UnsupportedFormat(
        "a 7z archive inside a compressed file", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C])

    private static let allFormats = [
        UnsupportedFormat("a RAR archive", "Rar!\u{1A}\u{07}".utf8),
        UnsupportedFormat("an ISO 9660 image", "CD001".utf8, at: 0x8001),
        UnsupportedFormat("a xar archive", "xar!".utf8),
        UnsupportedFormat("an ar archive or a Debian package", "!<arch>\n".utf8),
        UnsupportedFormat("a cabinet archive", "MSCF\0\0\0\0".utf8),
        UnsupportedFormat("a file compressed with lzip", "LZIP".utf8),
        UnsupportedFormat("a file compressed with lzma", [0x5D, 0x00, 0x00]),
        UnsupportedFormat("a file compressed with lzop", [0x89, 0x4C, 0x5A, 0x4F, 0x00]),
        UnsupportedFormat("a file compressed with lrzip", "LRZI".utf8),
        UnsupportedFormat("a file compressed with compress", [0x1F, 0x9D]),
    ]

    /// The number of first bytes that are needed to detect any of the formats.
    static let headSize = 0x8006

    /// Detects an unsupported format by the first bytes of a file, or returns `nil` if the bytes match no such format.
    static func find(in head: [UInt8]) -> UnsupportedFormat? { allFormats.first { $0.isFormat(of: head) } }

    func isFormat(of head: [UInt8]) -> Bool { head.dropFirst(signatureOffset).starts(with: signature) }
}
