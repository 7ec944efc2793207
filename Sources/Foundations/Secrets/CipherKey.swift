import CNettle

/// An AES key that unwraps other keys and decrypts data.
public struct CipherKey: Sendable {
    /// The number of bytes in a block.
    public static let blockSize = 16

    private let key: Secret
    private let keySize: Int

    init?(_ key: Secret) {
        keySize = key.withBytes { $0.count }
        self.key = key
        guard [16, 24, 32].contains(keySize) else { return nil }
    }

    /// Creates a key of 16, 24 or 32 bytes, or returns `nil` for any other number of bytes.
    public init?(_ bytes: [UInt8]) {
        var bytes = bytes
        self.init(Secret(taking: &bytes))
    }

    /// Unwraps the key `wrapped`, which was wrapped with this key.
    ///
    /// Returns `nil` if the integrity check fails, which means that `wrapped` is damaged or was wrapped with another
    /// key. Also returns `nil` if `wrapped` does not have the length of a wrapped AES key.
    ///
    /// Source: RFC 3394, section 2.2.2.
    public func unwrap(_ wrapped: [UInt8]) -> CipherKey? {
        // The library aborts the process for other lengths.
        guard wrapped.count >= 24, wrapped.count % 8 == 0 else { return nil }
        let initialValue = [UInt8](repeating: 0xA6, count: 8)
        var unwrapped = [UInt8](repeating: 0, count: wrapped.count - 8)
        let isIntact = withContext(.decryption) { context, cipher in
            nettle_nist_keyunwrap16(context, cipher, initialValue, unwrapped.count, &unwrapped, wrapped) == 1
        }
        return isIntact ? CipherKey(Secret(taking: &unwrapped)) : nil
    }

    /// Decrypts whole blocks with AES-CBC and keeps the padding.
    ///
    /// - Parameters:
    ///   - blocks: The encrypted bytes.
    ///   - previous: The encrypted block before `blocks`, or the initialization vector.
    /// - Returns: The decrypted bytes, or `nil` if `blocks` are not whole blocks or `previous` is not one block.
    public func decrypt(_ blocks: [UInt8], after previous: [UInt8]) -> [UInt8]? {
        applyChainedCipher(to: blocks, after: previous, .decryption, nettle_cbc_decrypt)
    }

    /// Encrypts whole blocks with AES-CBC and a zero initialization vector, or returns `nil` if `blocks` are not whole
    /// blocks.
    ///
    /// Tests use this method to create encrypted backups.
    package func encrypt(_ blocks: [UInt8]) -> [UInt8]? {
        applyChainedCipher(
            to: blocks, after: [UInt8](repeating: 0, count: Self.blockSize), .encryption, nettle_cbc_encrypt)
    }

    /// Returns whether `bytes` are the bytes of this key.
    package func isEqual(to bytes: [UInt8]) -> Bool { key.withBytes { $0.elementsEqual(bytes) } }

    private enum Direction { case encryption, decryption }

    private typealias BlockCipher =
        @convention(c) (
            UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?
        ) -> Void

    private typealias ChainingFunction = (
        UnsafeRawPointer?, BlockCipher?, Int, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?,
        UnsafePointer<UInt8>?
    ) -> Void

    private func applyChainedCipher(
        to blocks: [UInt8], after previous: [UInt8], _ direction: Direction, _ function: ChainingFunction
    ) -> [UInt8]? {
        // The library aborts the process for other lengths.
        guard previous.count == Self.blockSize, blocks.count % Self.blockSize == 0 else { return nil }
        var previous = previous
        return withContext(direction) { context, cipher in
            [UInt8](unsafeUninitializedCapacity: blocks.count) { output, count in
                count = blocks.count
                function(context, cipher, Self.blockSize, &previous, count, output.baseAddress, blocks)
            }
        }
    }

    /// Calls `body` with the expanded key and the block cipher that uses it.
    ///
    /// The expanded key is overwritten afterwards.
    private func withContext<Result>(
        _ direction: Direction, _ body: (UnsafeRawPointer, BlockCipher?) -> Result
    ) -> Result {
        let cipher =
            switch keySize {
            case 16: nettle_aes128
            case 24: nettle_aes192
            // The initializer accepts no other size.
            default: nettle_aes256
            }
        let size = Int(cipher.context_size)
        let context = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: Self.blockSize)
        defer {
            Secret.overwrite(UnsafeMutableRawBufferPointer(start: context, count: size))
            context.deallocate()
        }
        key.withBytes { bytes in
            let setKey = direction == .encryption ? cipher.set_encrypt_key : cipher.set_decrypt_key
            setKey?(context, bytes.bindMemory(to: UInt8.self).baseAddress)
        }
        return body(context, direction == .encryption ? cipher.encrypt : cipher.decrypt)
    }
}
