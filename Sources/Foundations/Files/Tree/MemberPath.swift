import Bytes

/// The path of an extracted archive member, relative to the folder into which the archive would be extracted.
public struct MemberPath: Hashable, Sendable {
    /// The bytes of the normalized path, which has no empty, `.` or `..` parts and is empty for the folder itself.
    public let bytes: [UInt8]

    /// The maximum size of a path in bytes, as on Linux.
    private static let sizeLimit = 4096
    /// The maximum number of parts of a path.
    private static let depthLimit = 256

    /// The reason why a path is rejected.
    public enum PathError: Error {
        /// The path contains `..`.
        case leavesRoot
        /// The path exceeds the maximum length or number of parts.
        case tooLong
    }

    /// Normalizes the path that is stored in an archive.
    ///
    /// As in tar, a leading slash, empty parts and `.` are removed.
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
            switch Self.dotCount(of: part.span) {
            case nil:
                if depth > 0 { bytes.append(slash) }
                bytes.append(contentsOf: part)
                depth += 1
            case 2: throw .leavesRoot
            default: continue
            }
        }
        guard depth <= Self.depthLimit else { throw .tooLong }
        self.bytes = bytes
    }

    /// Returns the length of a part that is empty, `.` or `..`, or `nil` for any other part.
    private static func dotCount(of part: Span<UInt8>) -> Int? {
        guard part.count <= 2 else { return nil }
        for index in part.indices where part[index] != UInt8(ascii: ".") { return nil }
        return part.count
    }

    /// The path of the parent folder, and the name of the member.
    public var split: (folder: ArraySlice<UInt8>, name: ArraySlice<UInt8>) { Path.split(bytes) }

    /// The path as a string, with U+FFFD in place of malformed UTF-8.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
