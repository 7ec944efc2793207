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
