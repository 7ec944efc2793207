import Secrets

/// The keys of the protection classes of an unlocked backup.
///
/// Source: "iOS backups", sections 5.3 and 5.4.
public struct ClassKeys: Sendable {
    private let keys: [Int: CipherKey]
    /// The numbers of the classes whose keys are damaged, because they did not unwrap although other keys did.
    public let damagedClassNumbers: [Int]

    /// Unwraps the keys of a keybag with the key that was derived from the password.
    ///
    /// Returns `nil` if no key unwraps, because the password is then wrong.
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

/// The wrapped key of a file, as stored in the manifest.
///
/// It consists of the number of the protection class (u32, little-endian) and 40 bytes.
///
/// Source: "iOS backups", section 5.4.
public struct WrappedKey: Sendable {
    /// The protection class whose key wraps this one.
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

/// An error in unwrapping the key of a file.
public enum WrappedKeyError: Error, Equatable, Sendable {
    /// The keybag has no key of this class that is protected only by the password.
    case missingClassKey(Int)
    /// The key was wrapped with another key, or is damaged.
    case unwrappingFailed
}
