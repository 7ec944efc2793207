import Bytes

/// Where a member of an archive would lie below the folder that it is extracted in.
public struct MemberPath: Hashable, Sendable {
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
    public init(_ stored: [UInt8]) throws(PathError) {
        guard stored.count <= Self.sizeLimit else { throw .tooLong }
        let slash = UInt8(ascii: "/")
        var depth = 0
        var start = 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(stored.count)
        while start <= stored.count {
            let end = stored.span.firstIndex(of: slash, from: start) ?? stored.count
            let part = stored[start..<end]
            start = end + 1
            switch Self.points(of: part.span) {
            case nil:
                if depth > 0 { bytes.append(slash) }
                bytes.append(contentsOf: part)
                depth += 1
            case 2: throw .climbs
            default: continue
            }
        }
        guard depth <= Self.depthLimit else { throw .tooLong }
        self.bytes = bytes
    }

    /// How many points a part consists of, up to two; nil if it is a name.
    private static func points(of part: Span<UInt8>) -> Int? {
        guard part.count <= 2 else { return nil }
        for index in part.indices where part[index] != UInt8(ascii: ".") { return nil }
        return part.count
    }

    /// The path of the folder that the member is in, and its name there.
    public var split: (folder: ArraySlice<UInt8>, name: ArraySlice<UInt8>) { Path.split(bytes) }

    /// The path as text; bytes that are no UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
