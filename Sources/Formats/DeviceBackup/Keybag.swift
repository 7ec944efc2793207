import Secrets

/// The keybag of a backup: the keys of the protection classes, wrapped under a key that is made of the password.
///
/// It is a list of items: a tag of 4 ASCII characters, a length (u32, big-endian), and a value. Source: "iOS backups",
/// section 5.2.
public struct Keybag: Sendable {
    /// A class with its wrapped key.
    struct ClassItem: Sendable {
        /// 1 to 4 are those of files.
        let number: Int
        /// What the key is wrapped under: 1 is the device, 2 the password.
        let wrap: Int
        /// 0 for AES, 1 for Curve25519.
        let keyType: Int
        let wrappedKey: [UInt8]
    }

    /// How the key of the password is made.
    public let derivation: PasswordDerivation
    let classes: [ClassItem]

    /// The most bytes of a keybag.
    public static let sizeLimit = 64 << 10
    /// How many rounds a derivation may have, so that a hostile backup cannot take hours.
    public static let rounds = 1...50_000_000

    /// Reads a keybag.
    /// - Throws: ``KeybagError``.
    public init(_ bytes: [UInt8]) throws(KeybagError) {
        guard bytes.count <= Self.sizeLimit else { throw .malformed("it has more than \(Self.sizeLimit >> 10) KiB") }
        let groups = try Self.groups(of: bytes)
        derivation = try Self.derivation(groups[0])
        var known: Set<Int> = []
        classes = groups.dropFirst().compactMap { group in
            guard let number = group.number("CLAS").map({ $0 & 15 }), known.insert(number).inserted else { return nil }
            return ClassItem(
                number: number, wrap: group.number("WRAP") ?? 0, keyType: group.number("KTYP") ?? 0,
                wrappedKey: group["WPKY"] ?? [])
        }
    }

    // MARK: Items

    /// The items of the bag, or of a class. The first of a repeated tag counts.
    private typealias Group = [String: [UInt8]]

    /// The items of the bag, then those of each class: the first `UUID` belongs to the bag, each later one begins a class.
    private static func groups(of bytes: [UInt8]) throws(KeybagError) -> [Group] {
        var groups: [Group] = [[:]]
        var hasUUID = false
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 8 else { throw .malformed("it ends within an item") }
            let tag = String(decoding: rest.prefix(4), as: UTF8.self)
            let length = rest.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(8)
            guard length <= rest.count else { throw .malformed("an item is longer than what is left of it") }
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
        let last = PasswordDerivation.Step(salt: salt, rounds: try checked(rounds))
        switch (bag["DPSL"], bag.number("DPIC")) {
        case (nil, nil) where bag["DPIC"] == nil: return PasswordDerivation(first: nil, last: last)
        case (let salt?, let rounds?):
            return PasswordDerivation(first: .init(salt: salt, rounds: try checked(rounds)), last: last)
        case (_, _): throw .malformed("of the first derivation it has the salt alone, or the rounds alone")
        }
    }

    private static func checked(_ rounds: Int) throws(KeybagError) -> Int {
        guard Self.rounds.contains(rounds) else { throw .rounds(rounds) }
        return rounds
    }
}

extension [String: [UInt8]] {
    fileprivate func number(_ tag: String) -> Int? {
        guard let bytes = self[tag], bytes.count == 4 else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}

/// Why a keybag cannot be used.
public enum KeybagError: Error, Equatable, Sendable {
    /// It contradicts itself, or lacks something.
    case malformed(String)
    /// It asks for no round at all, or for more than anybody waits for.
    case rounds(Int)
}
