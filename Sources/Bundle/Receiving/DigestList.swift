import Bytes
import Files
import Hashing

/// The expected digests of bundles, parsed from a file that the operator provides.
///
/// Each line has a digest and an optional bundle name, such as `61af…c2  monday.tar.zst`. The word `digest` can precede
/// the digest, as in the output of `bundle` and `verify`. Empty lines and lines that start with `#` are ignored.
public struct DigestList: Sendable {
    /// The maximum size of a list in bytes.
    public static let maxSize = 1 << 20

    private struct Entry {
        let digest: String
        let name: String?
    }

    private let entries: [Entry]

    /// Parses a list.
    ///
    /// - Throws: ``DigestListError`` with the number of the first malformed line.
    public init(_ bytes: [UInt8]) throws(DigestListError) {
        var entries: [Entry] = []
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            guard let first = line.first(where: { $0 != " " }), first != "#" else { continue }
            guard let entry = Self.entry(from: line) else { throw DigestListError(line: index + 1) }
            entries.append(entry)
        }
        self.entries = entries
    }

    private static func entry(from line: Substring) -> Entry? {
        let text = line.hasPrefix("digest ") ? line.dropFirst("digest ".count) : line
        let words = text.split(separator: " ", maxSplits: 1)
        guard let digest = words.first?.lowercased(), ContentHash(hex: digest) != nil else { return nil }
        guard words.count > 1 else { return Entry(digest: digest, name: nil) }
        // Tools such as `sha256sum` write a space or an asterisk before a name.
        let name = words[1].drop { $0 == " " || $0 == "*" }
        return name.isEmpty ? nil : Entry(digest: digest, name: String(name))
    }

    /// Returns the expected digest of the bundle at `path`, or `nil` if no line matches or the lines contradict each
    /// other.
    ///
    /// A line matches if its name is the path or the last component of the path. If there is no such line and
    /// `isOnlyBundle` is `true`, lines without a name match.
    public func digest(of path: String, isOnlyBundle: Bool) -> String? {
        let name = Path.name(of: path)
        let named = entries.filter { entry in
            entry.name.map { CapturedText($0) == path || CapturedText($0) == name } ?? false
        }
        let matching = named.isEmpty && isOnlyBundle ? entries.filter { $0.name == nil } : named
        let digests = Set(matching.map(\.digest))
        return digests.count == 1 ? digests.first : nil
    }
}

/// A malformed line in a list of digests.
public struct DigestListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The number of the line, starting at 1.
    public let line: Int

    /// A description of the error in one line, without a full stop.
    public var description: String { "line \(line) does not start with a digest of 64 hexadecimal digits" }
}

// MARK: - Accepted bundles

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
