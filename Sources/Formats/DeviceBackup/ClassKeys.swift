import Secrets

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
        guard let key = keys[wrapped.classNumber] else { throw .missingClassKey(wrapped.classNumber) }
        guard let found = key.unwrap(wrapped.bytes) else { throw .unwrappingFailed }
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
public enum WrappedKeyError: Error, Equatable, Sendable {
    /// The keybag has no key of this class that is protected only by the password.
    case missingClassKey(Int)
    /// The key was wrapped with another key, or is damaged.
    case unwrappingFailed
}
