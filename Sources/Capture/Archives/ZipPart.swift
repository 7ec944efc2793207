import Files
import Tar
import Zip

/// Members of a zip archive that stand one behind the other and are read together.
struct ZipPart: Sendable {
    /// A member, wanted or not: of all of them the headers are compared with the directory.
    struct Member: Sendable {
        /// The path, if the contents are wanted.
        let path: MemberPath?
        let entry: ZipEntry
        /// The bytes from its header up to that of the next member.
        let extent: Range<Int>
    }

    /// How many bytes are read at once, and how many are made of them.
    private static let mostBytes = 512 << 10
    /// Contents that nobody wants are read along with others if they have no more bytes than this.
    private static let mostUnwanted = 16 << 10

    private(set) var members: [Member] = []
    /// How many bytes the wanted contents have.
    private var size = 0
    private var extent = 0..<0

    /// The member, if there is only one and its contents are read piece by piece, or not at all.
    var large: Member? {
        guard let first = members.first, !Self.isShared(first) else { return nil }
        return first
    }

    /// Whether a member is read together with others.
    private static func isShared(_ member: Member) -> Bool {
        member.path == nil
            ? member.extent.count <= mostUnwanted
            : member.extent.count <= mostBytes && member.entry.size <= mostBytes
    }

    /// Adds the next member if there is room. Returns whether it was added.
    mutating func add(_ member: Member) -> Bool {
        let all = members.isEmpty ? member.extent : extent.lowerBound..<member.extent.upperBound
        let made = member.path == nil ? size : size + member.entry.size
        let hasRoom = large == nil && Self.isShared(member) && all.count <= Self.mostBytes && made <= Self.mostBytes
        guard members.isEmpty || hasRoom else { return false }
        members.append(member)
        extent = all
        size = made
        return true
    }

    /// Returns the adjacent contents of all wanted members, or nothing for a large one. Throws an error if a member
    /// differs from its entry in the directory.
    func contents(in source: ByteSource) throws -> [UInt8] {
        if let large {
            _ = try ZipUnpacking.contents(of: large, in: source)
            return []
        }
        let bytes = try source.bytes(at: extent.lowerBound, count: extent.count)
        guard bytes.count == extent.count else { throw NotPlain() }
        var unpacking = try ZipUnpacking()
        // A byte more than needed shows what is longer than the directory says.
        return try [UInt8](capacity: size + 1) { output in
            for member in members {
                let start = member.extent.lowerBound - extent.lowerBound
                let bytes = bytes.span.extracting(start..<start + member.extent.count)
                guard let contents = member.entry.contents(in: bytes, of: bytes.count) else { throw NotPlain() }
                guard member.path != nil else { continue }
                try unpacking.append(bytes.extracting(contents), of: member.entry, to: &output)
            }
        }
    }
}
