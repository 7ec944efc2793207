import Bytes
import Secrets

/// The keybag of a backup, which contains the keys of the protection classes, wrapped with a key derived from the
/// password.
///
/// A keybag is a list of items. An item consists of a tag of 4 ASCII characters, a length (u32, big-endian) and a
/// value.
///
/// Source: "iOS backups", section 5.2.
public struct Keybag: Sendable {
    /// A protection class with its wrapped key.
    struct ClassItem: Sendable {
        /// The number of the class, which is 1 to 4 for files.
        let number: Int
        /// The keys that wrap this key, as a bit mask: 1 is the key of the device, 2 is derived from the password.
        let wrapping: Int
        /// The algorithm of the key: 0 for AES, 1 for Curve25519.
        let keyType: Int
        let wrappedKey: [UInt8]
    }

    /// The derivation of the key from the password.
    public let derivation: PasswordDerivation
    let classItems: [ClassItem]

    /// The maximum size of a keybag, in bytes.
    public static let sizeLimit = 64 << 10
    /// The range of allowed iteration counts, limited so that a malicious backup cannot occupy the processor for hours.
    public static let supportedRounds = 1...50_000_000

    /// Parses a keybag.
    public init(_ bytes: [UInt8]) throws(KeybagError) {
        guard bytes.count <= Self.sizeLimit else { throw .malformed("it has more than \(Self.sizeLimit >> 10) KiB") }
        let groups = try Self.groups(of: bytes)
        derivation = try Self.derivation(groups[0])
        var known: Set<Int> = []
        classItems = groups.dropFirst().compactMap { group in
            guard let number = group.number("CLAS").map({ $0 & 15 }), known.insert(number).inserted else { return nil }
            return ClassItem(
                number: number, wrapping: group.number("WRAP") ?? 0, keyType: group.number("KTYP") ?? 0,
                wrappedKey: group["WPKY"] ?? [])
        }
    }

    // MARK: Items

    /// The values of the items that describe the keybag or a class, by tag.
    private typealias Group = [CapturedText: [UInt8]]

    /// Returns the group of the keybag, followed by a group for each class.
    ///
    /// The first `UUID` item belongs to the keybag, and each further `UUID` item begins a class.
    private static func groups(of bytes: [UInt8]) throws(KeybagError) -> [Group] {
        var groups: [Group] = [[:]]
        var hasUUID = false
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 8 else { throw .malformed("it ends within an item") }
            let tag = String(decoding: rest.prefix(4), as: UTF8.self)
            let length = rest.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(8)
            guard length <= rest.count else { throw .malformed("an item is longer than the rest of the keybag") }
            if tag == "UUID" {
                if hasUUID { groups.append([:]) }
                hasUUID = true
            }
            if groups[groups.count - 1][tag] == nil { groups[groups.count - 1][tag] = Array(rest.prefix(length)) }
            rest = rest.dropFirst(length)
        }
        return groups
    }

    private static func derivation(_ bag: Group) throws(KeybagError) -> PasswordDerivation {
        guard let salt = bag["SALT"], let rounds = bag.number("ITER") else {
            throw .malformed("it has no salt, or no number of rounds")
        }
        let last = PasswordDerivation.Step(salt: salt, rounds: try validated(rounds))
        switch (bag["DPSL"], bag.number("DPIC")) {
        case (nil, nil) where bag["DPIC"] == nil: return PasswordDerivation(first: nil, last: last)
        case (let salt?, let rounds?):
            return PasswordDerivation(first: .init(salt: salt, rounds: try validated(rounds)), last: last)
        case (_, _): throw .malformed("the first derivation has only a salt or only a number of rounds")
        }
    }

    private static func validated(_ rounds: Int) throws(KeybagError) -> Int {
        guard Self.supportedRounds.contains(rounds) else { throw .unsupportedRounds(rounds) }
        return rounds
    }
}

extension [CapturedText: [UInt8]] {
    fileprivate func number(_ tag: String) -> Int? {
        guard let bytes = self[tag], bytes.count == 4 else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}

/// An error in a keybag.
public enum KeybagError: Error, Equatable, Sendable {
    /// The keybag is inconsistent or incomplete.
    case malformed(String)
    /// The given number of iterations is not in ``Keybag/supportedRounds``.
    case unsupportedRounds(Int)
}
