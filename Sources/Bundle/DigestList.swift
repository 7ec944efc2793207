import Bytes
import Files
import Hashing

/// The digests that bundles have to have, as somebody wrote them down: a line for each, the digest and the name of the bundle,
/// or a digest alone.
///
/// `61af…c2  monday.tar.zst`; also `digest 61af…c2`, as `bundle` and `verify` print it. Empty lines and those that begin with
/// `#` say nothing.
public struct DigestList: Sendable {
    /// A list is not longer than this.
    public static let longest = 1 << 20

    private struct Entry {
        let digest: String
        let name: String?
    }

    private let entries: [Entry]

    /// Reads a list.
    /// - Throws: ``DigestListError`` with the number of the line that is none.
    public init(_ bytes: [UInt8]) throws(DigestListError) {
        var entries: [Entry] = []
        var line = 0
        for text in String(decoding: bytes, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        {
            line += 1
            guard let first = text.first(where: { $0 != " " }), first != "#" else { continue }
            guard let entry = Self.entry(text) else { throw DigestListError(line: line) }
            entries.append(entry)
        }
        self.entries = entries
    }

    private static func entry(_ line: Substring) -> Entry? {
        let text = line.hasPrefix("digest ") ? line.dropFirst("digest ".count) : line
        let words = text.split(separator: " ", maxSplits: 1)
        guard let digest = words.first?.lowercased(), ContentHash(hex: digest) != nil else { return nil }
        guard words.count > 1 else { return Entry(digest: digest, name: nil) }
        // sha256sum and its kin put a space or an asterisk in front of a name.
        let name = words[1].drop { $0 == " " || $0 == "*" }
        return name.isEmpty ? nil : Entry(digest: digest, name: String(name))
    }

    /// The digest that a bundle has to have; nil where the list does not tell it, or tells different ones.
    /// - Parameters:
    ///   - path: of the bundle; its last part is what lists usually have.
    ///   - isOnlyOne: whether there is no other bundle, so that a digest alone means it.
    public func digest(of path: String, isOnlyOne: Bool) -> String? {
        let name = Path.name(of: path)
        let named = entries.filter { $0.name == path || $0.name == name }
        let meant = named.isEmpty && isOnlyOne ? entries.filter { $0.name == nil } : named
        let digests = Set(meant.map(\.digest))
        return digests.count == 1 ? digests.first : nil
    }
}

/// A line in a list of digests that is none.
public struct DigestListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Its number, from 1.
    public let line: Int

    /// One line without a full stop.
    public var description: String { "line \(line) has no digest of 64 hexadecimal digits in front" }
}
