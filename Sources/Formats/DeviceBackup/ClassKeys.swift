import Secrets

/// The keys of the protection classes of a backup that was unlocked.
///
/// Source: "iOS backups", sections 5.3 and 5.4.
public struct ClassKeys: Sendable {
    private let keys: [Int: CipherKey]
    /// The classes whose keys did not unwrap although those of others did: damage.
    public let damaged: [Int]

    /// Unwraps the keys with `key`, which is derived from a password. Returns `nil` if no key unwraps, because the password is
    /// wrong then.
    public init?(_ bag: Keybag, under key: CipherKey) {
        var keys: [Int: CipherKey] = [:]
        var damaged: [Int] = []
        var isRight = false
        for item in bag.classes where item.wrap & 2 != 0 {
            guard item.wrappedKey.count == WrappedKey.wrappedSize, let found = key.unwrap(item.wrappedKey) else {
                damaged.append(item.number)
                continue
            }
            isRight = true
            // Of any other kind the key is still under the device's own, or is none of AES.
            if item.wrap == 2, item.keyType == 0 { keys[item.number] = found }
        }
        guard isRight else { return nil }
        self.keys = keys
        self.damaged = damaged.sorted()
    }

    /// The key of a file, or of the manifest.
    /// - Throws: ``WrappedKeyError``.
    public func unwrap(_ wrapped: WrappedKey) throws(WrappedKeyError) -> CipherKey {
        guard let key = keys[wrapped.classNumber] else { throw .noClass(wrapped.classNumber) }
        guard let found = key.unwrap(wrapped.bytes) else { throw .doesNotUnwrap }
        return found
    }
}

/// The key of a file as stored in the manifest: the number of its class (u32, little-endian), and 40 bytes.
///
/// Source: "iOS backups", section 5.4.
public struct WrappedKey: Sendable {
    /// The class under whose key it is wrapped. What else the manifest says of the class does not count.
    public let classNumber: Int
    let bytes: [UInt8]

    /// How many bytes a wrapped key of AES-256 has.
    static let wrappedSize = 40
    /// How many bytes it has with its class.
    public static let size = 4 + wrappedSize

    /// Takes a key apart; nil if it does not have 44 bytes.
    public init?(_ stored: some Collection<UInt8>) {
        guard stored.count == Self.size else { return nil }
        classNumber = stored.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        bytes = Array(stored.dropFirst(4))
    }
}

/// Why the key of a file cannot be had.
public enum WrappedKeyError: Error, Equatable, Sendable {
    /// The keybag has no key of that class that is under the password alone.
    case noClass(Int)
    /// The key was wrapped under another one, or damaged.
    case doesNotUnwrap
}
