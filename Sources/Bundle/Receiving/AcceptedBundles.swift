import Bytes
import Files
import Hashing

/// The bundles that a receiver has accepted, so that an older bundle under the name of a newer one is recognized.
///
/// They are stored as a text with a line for each bundle: its digest, two spaces and its name. `verify --digest-file` can
/// read it.
public struct AcceptedBundles: Sendable, Equatable {
    /// The maximum size of the text in bytes.
    public static let maxSize = 64 << 20

    /// The names under which each digest was accepted.
    private var names: [CapturedText: [String]] = [:]
    /// The lines in the order in which the bundles were accepted.
    private var lines: [String] = []

    /// Creates an empty list.
    public init() {}

    /// Parses a list.
    ///
    /// - Throws: ``DigestListError`` with the number of the first malformed line.
    public init(_ bytes: [UInt8]) throws(DigestListError) {
        let parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let line = String(decoding: part, as: UTF8.self)
            // The last line ends with a line feed.
            if index == parts.count - 1, line.isEmpty { return }
            let (digest, rest) = (String(line.prefix(64)), line.dropFirst(64))
            guard ContentHash(hex: digest) != nil, rest.hasPrefix("  "), rest.count > 2, index < parts.count - 1 else {
                throw DigestListError(line: index + 1)
            }
            insert(digest, named: String(rest.dropFirst(2)))
        }
    }

    /// Returns whether a bundle with this digest was accepted.
    public func contains(_ digest: String) -> Bool { names[CapturedText(digest)] != nil }

    /// Returns the name under which a bundle with this digest was accepted, if it was not accepted under `name`.
    func otherName(of digest: String, than name: String) -> String? {
        guard let known = names[CapturedText(digest)], !known.contains(where: { CapturedText($0) == name }) else {
            return nil
        }
        return known.first
    }

    /// Adds a bundle, unless the list contains it.
    public mutating func insert(_ digest: String, named name: String) {
        guard names[CapturedText(digest)]?.contains(where: { CapturedText($0) == name }) != true else { return }
        names[CapturedText(digest), default: []].append(name)
        lines.append("\(digest)  \(name)")
    }

    /// The list as a text.
    public var bytes: [UInt8] { lines.flatMap { Array("\($0)\n".utf8) } }
}
