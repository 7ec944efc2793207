/// Where a member of an archive would lie below the folder that it is extracted in.
public struct MemberPath: Hashable {
    /// The parts, with a slash between them; neither empty nor `.` nor `..`. No bytes for that folder itself.
    public let bytes: [UInt8]

    /// The most bytes of a path, as on Linux.
    private static let sizeLimit = 4096
    /// The most parts of a path.
    private static let depthLimit = 256

    /// Why a path is refused.
    public enum PathError: Error {
        /// The path leads out of the folder.
        case climbs
        /// The path is longer or deeper than paths on disk can be.
        case tooLong
    }

    /// Reads a path as it stands in an archive. A slash in front, empty parts and `.` are dropped, as tar does.
    public init(_ stored: some Collection<UInt8>) throws(PathError) {
        guard stored.count <= Self.sizeLimit else { throw .tooLong }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(stored.count)
        var depth = 0
        for part in stored.split(separator: UInt8(ascii: "/")) where !part.elementsEqual(".".utf8) {
            guard !part.elementsEqual("..".utf8) else { throw .climbs }
            depth += 1
            guard depth <= Self.depthLimit else { throw .tooLong }
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "/")) }
            bytes += part
        }
        self.bytes = bytes
    }

    /// The path of the folder that it lies in, and its name there.
    public var split: (folder: ArraySlice<UInt8>, name: ArraySlice<UInt8>) {
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return ([], bytes[...]) }
        return (bytes[..<slash], bytes[(slash + 1)...])
    }

    /// The path as text; bytes that are no UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
