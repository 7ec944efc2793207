import Bytes
import Hashing

/// The identifier of a file in a backup, which is the SHA-1 digest of its domain, a hyphen and its path.
///
/// Source: "iOS backups", section 2.1.
public struct FileID: Sendable, Hashable {
    /// The 20 bytes of the digest.
    public let bytes: [UInt8]

    /// The size of an identifier, in bytes.
    public static let size = 20

    /// Computes the identifier of the file at a path in a domain.
    public init(domain: [UInt8], path: [UInt8]) {
        var hash = SHA1()
        hash.update(domain.span)
        hash.update("-".utf8.span)
        hash.update(path.span)
        bytes = hash.finalize()
    }

    /// Parses a file name of 40 lowercase hexadecimal digits, or returns `nil` for any other name.
    public init?(_ name: [UInt8]) {
        guard name.count == 2 * Self.size, !name.contains(where: { $0.lowercased != $0 }) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: name.count, by: 2) {
            guard let high = name[index].hexadecimalValue, let low = name[index + 1].hexadecimalValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    /// Creates an identifier from its 20 bytes.
    public init(bytes: some Collection<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// The file name, which consists of 40 hexadecimal digits.
    public var name: String { bytes.hex }
    /// The name of the folder that contains the file since iOS 10, which consists of the first two digits of ``name``.
    public var folder: String { bytes.prefix(1).hex }
}
