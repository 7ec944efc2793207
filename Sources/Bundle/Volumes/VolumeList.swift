import Bytes
import Hashing

/// A list of hashes for the volumes of a bundle.
///
/// The list is stored as `NAME.tar.zst.sha256` in the format of `sha256sum`.
public struct VolumeList: Sendable, Equatable {
    /// The SHA-256 hash of each volume, in order.
    public let hashes: [ContentHash]

    /// The maximum size of a list in bytes.
    static let sizeLimit = 1 << 20

    /// Creates a list of the given hashes, one for each volume in order.
    public init(_ hashes: [ContentHash]) { self.hashes = hashes }

    /// Returns the contents of the list file for the bundle at `path`.
    public func bytes(forBundleAt path: String) -> [UInt8] {
        hashes.enumerated().flatMap { number, hash in
            Array((Self.line(for: hash, named: VolumeName(of: path, number: number + 1).name) + "\n").utf8)
        }
    }

    /// Returns the line of the list for the volume called `name`, without a line feed.
    ///
    /// If the name contains a backslash or a line feed, these characters are escaped and the line starts with a
    /// backslash, as in the output of `sha256sum`.
    private static func line(for hash: ContentHash, named name: String) -> String {
        var escaped = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return "\(escaped == name ? "" : "\\")\(hash.hex)  \(escaped)"
    }

    /// Parses the list for the bundle at `path`.
    ///
    /// The list must contain each volume of the bundle once, in order.
    static func parse(_ bytes: [UInt8], forBundleAt path: String) -> Result<VolumeList, Fault> {
        guard bytes.last == UInt8(ascii: "\n") else { return .failure(Fault(line: nil, "no line feed at its end")) }
        var hashes: [ContentHash] = []
        for part in bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let number = hashes.count + 1
            guard number <= VolumeName.maxNumber else { return .failure(Fault(line: number, "too many lines")) }
            let name = VolumeName(of: path, number: number).name
            let text = part.first == UInt8(ascii: "\\") ? part.dropFirst() : part
            let digits = String(decoding: text.prefix(2 * 32), as: UTF8.self)
            guard let hash = ContentHash(hex: digits) else { return .failure(Fault(line: number, "no SHA-256")) }
            // The whole line is compared with the expected line, so that escaped names need not be parsed.
            let line = line(for: hash, named: name)
            let binary = line.replacing("\(hash.hex)  ", with: "\(hash.hex) *", maxReplacements: 1)
            guard [line, binary].contains(where: { $0.utf8.elementsEqual(part) }) else {
                return .failure(Fault(line: number, "it does not name \(name)"))
            }
            hashes.append(hash)
        }
        return .success(VolumeList(hashes))
    }

    /// A fault in a list.
    struct Fault: Error, Equatable {
        /// The number of the malformed line, starting at 1, or `nil` if the fault is not in a single line.
        let line: Int?
        /// The reason why the list cannot be parsed.
        let reason: String

        init(line: Int?, _ reason: String) {
            self.line = line
            self.reason = reason
        }

        var text: String { line.map { "line \($0): \(reason)" } ?? reason }
    }
}
