import Bytes
import Hashing

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

    /// The range of allowed iteration counts, limited so that a malicious backup cannot occupy the processor for hours.
    public static let supportedRounds = 1...InputLimits.keybagRoundCount

    /// Parses a keybag.
    public init(_ bytes: [UInt8]) throws(KeybagError) {
        guard bytes.count <= InputLimits.keybagSize else {
            throw .malformed("it has more than \(InputLimits.keybagSize >> 10) KiB")
        }
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
        guard Self.supportedRounds.contains(rounds) else {
            let limit = Self.supportedRounds.upperBound
            throw KeybagError(
                caseID: "B25", reason: "the keybag requires \(rounds) rounds, but only 1 to \(limit) are supported")
        }
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
///
/// Source: "iOS backups", section 10.
public struct KeybagError: Error, Equatable, Sendable {
    /// The case ID of the error, such as `B24`.
    public let caseID: String
    /// A description of the error.
    public let reason: String

    static func malformed(_ fault: String) -> KeybagError {
        KeybagError(caseID: "B24", reason: "the keybag cannot be used: \(fault)")
    }
}

/// The keys of the protection classes of an unlocked backup.
///
/// Source: "iOS backups", sections 5.3 and 5.4.
public struct ClassKeys: Sendable {
    private let keys: [Int: CipherKey]
    /// The numbers of the classes with damaged keys, in ascending order.
    ///
    /// A key is damaged if it cannot be unwrapped, although the password is correct.
    public let damagedClassNumbers: [Int]

    /// Unwraps the keys of a keybag with the key that was derived from the password.
    ///
    /// Returns `nil` if no key can be unwrapped, which means that the password is wrong.
    public init?(_ bag: Keybag, under key: CipherKey) {
        var keys: [Int: CipherKey] = [:]
        var damagedClassNumbers: [Int] = []
        var isPasswordCorrect = false
        for item in bag.classItems where item.wrapping & 2 != 0 {
            guard item.wrappedKey.count == WrappedKey.wrappedSize, let found = key.unwrap(item.wrappedKey) else {
                damagedClassNumbers.append(item.number)
                continue
            }
            isPasswordCorrect = true
            // Any other key is also wrapped with the key of the device, or is not an AES key.
            if item.wrapping == 2, item.keyType == 0 { keys[item.number] = found }
        }
        guard isPasswordCorrect else { return nil }
        self.keys = keys
        self.damagedClassNumbers = damagedClassNumbers.sorted()
    }

    /// Unwraps the key of a file or of the manifest.
    public func unwrap(_ wrapped: WrappedKey) throws(WrappedKeyError) -> CipherKey {
        guard let key = keys[wrapped.classNumber] else {
            throw WrappedKeyError(words: "is of class \(wrapped.classNumber), whose key is not in the keybag")
        }
        guard let found = key.unwrap(wrapped.bytes) else { throw WrappedKeyError(words: "cannot be unwrapped") }
        return found
    }
}

/// A wrapped key of a file or of the manifest, in its stored form.
///
/// The stored form consists of the number of the protection class (u32, little-endian) and 40 bytes of wrapped key.
///
/// Source: "iOS backups", section 5.4.
public struct WrappedKey: Sendable {
    /// The number of the protection class whose key wraps this key.
    public let classNumber: Int
    let bytes: [UInt8]

    /// The size of a wrapped AES-256 key, in bytes.
    static let wrappedSize = 40
    /// The size of the class number and the wrapped key, in bytes.
    public static let size = 4 + wrappedSize

    /// Parses a stored key, or returns `nil` if it does not have 44 bytes.
    public init?(_ stored: some Collection<UInt8>) {
        guard stored.count == Self.size else { return nil }
        classNumber = stored.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        bytes = Array(stored.dropFirst(4))
    }
}

/// An error in unwrapping the key of a file or of the manifest.
public struct WrappedKeyError: Error, Equatable, Sendable {
    /// A description of the error that follows "the key" in a sentence.
    public let words: String
}

/// The PKCS #7 padding of encrypted files.
///
/// An encrypted file is padded to whole blocks with 1 to 16 bytes. Each of these bytes is the number of padding bytes.
///
/// Source: RFC 5652, section 6.3; "iOS backups", section 5.4.
public enum Padding {
    /// Returns the number of padding bytes in the last block of a file, or `nil` if the padding is invalid.
    public static func count(inLastBlock block: [UInt8]) -> Int? {
        guard let count = block.last.map(Int.init), (1...16).contains(count), count <= block.count,
            block.suffix(count).allSatisfy({ $0 == UInt8(count) })
        else { return nil }
        return count
    }
}
