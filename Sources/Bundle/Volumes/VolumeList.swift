import Bytes
import Hashing

/// The list of the volumes of a bundle, `NAME.tar.zst.sha256`, as `sha256sum` prints it: a line a volume, in their order.
public struct VolumeList: Sendable, Equatable {
    /// The SHA-256 of each volume.
    public let hashes: [ContentHash]

    /// The most bytes of a list that is read.
    static let sizeLimit = 1 << 20

    /// Makes a list.
    public init(_ hashes: [ContentHash]) { self.hashes = hashes }

    /// The text of the list.
    /// - Parameter bundle: the path of the bundle; its last part is what counts.
    public func bytes(of bundle: String) -> [UInt8] {
        hashes.enumerated().flatMap { number, hash in
            Array((Self.line(hash, VolumeName(of: bundle, number: number + 1).name) + "\n").utf8)
        }
    }

    /// As `sha256sum` does it, a line begins with a backslash where something in the name is escaped.
    private static func line(_ hash: ContentHash, _ name: String) -> String {
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

    /// Reads a list.
    /// - Parameter bundle: the path of the bundle; the list has to name its volumes, each once, in their order.
    /// - Returns: the list, or what is wrong with it.
    static func read(_ bytes: [UInt8], of bundle: String) -> Result<VolumeList, Fault> {
        guard bytes.last == UInt8(ascii: "\n") else { return .failure(Fault(line: nil, "no line feed at its end")) }
        var hashes: [ContentHash] = []
        for part in bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let number = hashes.count + 1
            guard number <= VolumeName.maxNumber else { return .failure(Fault(line: number, "too many lines")) }
            let name = VolumeName(of: bundle, number: number).name
            let text = part.first == UInt8(ascii: "\\") ? part.dropFirst() : part
            let digits = String(decoding: text.prefix(2 * 32), as: UTF8.self)
            guard let hash = ContentHash(hex: digits) else { return .failure(Fault(line: number, "no SHA-256")) }
            // Compared with what the line has to be: so names need not be read.
            let line = line(hash, name)
            let binary = line.replacing("\(hash.hex)  ", with: "\(hash.hex) *", maxReplacements: 1)
            guard [line, binary].contains(where: { $0.utf8.elementsEqual(part) }) else {
                return .failure(Fault(line: number, "it does not name \(name)"))
            }
            hashes.append(hash)
        }
        return .success(VolumeList(hashes))
    }

    /// What is wrong with a list.
    struct Fault: Error, Equatable {
        /// The line, from 1; nil for the whole list.
        let line: Int?
        /// Why it cannot be read.
        let reason: String

        init(line: Int?, _ reason: String) {
            self.line = line
            self.reason = reason
        }

        /// The fault in words.
        var text: String { line.map { "line \($0): \(reason)" } ?? reason }
    }
}
