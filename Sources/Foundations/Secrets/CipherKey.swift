import Crypto
import CryptoExtras
import FoundationEssentials

/// A key of AES, which unwraps other keys and decrypts.
public struct CipherKey: Sendable {
    /// How many bytes a block has.
    public static let blockSize = 16

    private let key: SymmetricKey

    init(_ key: SymmetricKey) {
        self.key = key
    }

    /// A key of 16, 24 or 32 bytes; nil for any other number.
    public init?(_ bytes: [UInt8]) {
        guard [16, 24, 32].contains(bytes.count) else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// Unwraps a key as RFC 3394 says; nil if this is not the key that it was wrapped with, which shows.
    public func unwrap(_ wrapped: [UInt8]) -> CipherKey? {
        (try? AES.KeyWrap.unwrap(wrapped, using: key)).map(CipherKey.init)
    }

    /// Decrypts whole blocks that were encrypted in a chain (AES-CBC), and leaves the padding on.
    /// - Parameters:
    ///   - blocks: a whole number of blocks.
    ///   - previous: the encrypted block in front of them; zeros in front of the first one.
    /// - Returns: as many bytes; nil if these are no whole blocks.
    public func decrypt(_ blocks: [UInt8], after previous: [UInt8]) -> [UInt8]? {
        guard !blocks.isEmpty else { return [] }
        guard let start = try? AES._CBC.IV(ivBytes: previous),
            let plain = try? AES._CBC.decrypt(blocks, using: key, iv: start, noPadding: true)
        else { return nil }
        return Array(plain)
    }

    /// Encrypts whole blocks in a chain that begins with zeros: for tests, which have no backups of people.
    package func encrypt(_ blocks: [UInt8]) -> [UInt8]? {
        guard let start = try? AES._CBC.IV(ivBytes: [UInt8](repeating: 0, count: Self.blockSize)) else { return nil }
        return (try? AES._CBC.encrypt(blocks, using: key, iv: start, noPadding: true)).map { Array($0) }
    }

    /// Whether two keys are the same.
    package func isEqual(to bytes: [UInt8]) -> Bool { key == SymmetricKey(data: bytes) }
}
