import Files
import Zip

/// A run of adjacent members of a zip archive that one job reads together.
struct ZipPart: Sendable {
    /// A member of the part, with a header that is verified even if the contents are not needed.
    struct Member: Sendable {
        /// The path, or `nil` if the contents are not needed.
        let path: MemberPath?
        let entry: ZipEntry
        /// The range from the header of the member to the header of the next member.
        let extent: Range<Int>
    }

    /// The maximum packed size and the maximum unpacked size of a part, in bytes.
    private static let sizeLimit = 512 << 10
    /// The maximum size of an unneeded member that is read with its neighbors instead of being skipped, in bytes.
    private static let unneededSizeLimit = 16 << 10

    private(set) var members: [Member] = []
    private var unpackedSize = 0
    private var extent = 0..<0

    /// The only member of the part if it is too large to be read together with others, and otherwise `nil`.
    var largeMember: Member? {
        guard let first = members.first, !Self.isSmall(first) else { return nil }
        return first
    }

    /// Returns whether a member is small enough to be read together with others.
    private static func isSmall(_ member: Member) -> Bool {
        member.path == nil
            ? member.extent.count <= unneededSizeLimit
            : member.extent.count <= sizeLimit && member.entry.size <= sizeLimit
    }

    /// Adds the next member if it fits in the part, and returns whether it was added.
    mutating func add(_ member: Member) -> Bool {
        let combined = members.isEmpty ? member.extent : extent.lowerBound..<member.extent.upperBound
        let unpackedSize = member.path == nil ? self.unpackedSize : self.unpackedSize + member.entry.size
        let hasRoom =
            largeMember == nil && Self.isSmall(member) && combined.count <= Self.sizeLimit
            && unpackedSize <= Self.sizeLimit
        guard members.isEmpty || hasRoom else { return false }
        members.append(member)
        extent = combined
        self.unpackedSize = unpackedSize
        return true
    }

    /// Returns the concatenated contents of all needed members.
    ///
    /// If the part consists of one large member, its header is verified, and the result is empty.
    ///
    /// - Throws: ``RequiresLibarchive`` if a member differs from its entry in the directory.
    func contents(in source: ByteSource) throws -> [UInt8] {
        if let largeMember {
            _ = try ZipUnpacker.contentsRange(of: largeMember, in: source)
            return []
        }
        let bytes = try source.bytes(at: extent.lowerBound, count: extent.count)
        guard bytes.count == extent.count else { throw RequiresLibarchive() }
        var unpacker = try ZipUnpacker()
        // One extra byte detects contents that are longer than the directory states.
        return try [UInt8](capacity: unpackedSize + 1) { output in
            for member in members {
                let start = member.extent.lowerBound - extent.lowerBound
                let bytes = bytes.span.extracting(start..<start + member.extent.count)
                guard let contents = member.entry.contentsRange(in: bytes, memberSize: bytes.count) else {
                    throw RequiresLibarchive()
                }
                guard member.path != nil else { continue }
                try unpacker.append(bytes.extracting(contents), of: member.entry, to: &output)
            }
        }
    }
}
