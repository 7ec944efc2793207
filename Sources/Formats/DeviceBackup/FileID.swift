import Bytes
import Hashing

/// The name of a file in a backup: the SHA-1 of its domain, a hyphen and its path.
///
/// Source: "iOS backups", section 2.1.
public struct FileID: Sendable, Hashable {
    /// The 20 bytes.
    public let bytes: [UInt8]

    /// How many bytes there are.
    public static let size = 20

    /// The name that the file of a domain and a path has.
    public init(domain: [UInt8], path: [UInt8]) {
        var hash = SHA1()
        hash.update(domain.span)
        hash.update("-".utf8.span)
        hash.update(path.span)
        bytes = hash.finalize()
    }

    /// Reads a name; nil if it is not 40 lower-case hexadecimal digits.
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

    /// Takes the 20 bytes.
    public init(bytes: some Collection<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// The name: 40 hexadecimal digits.
    public var name: String { bytes.hex }
    /// The name of the folder that the file lies in since iOS 10: the first two digits.
    public var folder: String { bytes.prefix(1).hex }
}
