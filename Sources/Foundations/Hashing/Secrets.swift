import CLibrary
import CNettle
import Essentials
import Synchronization

/// The bytes of a password or key, which are overwritten when they are no longer needed.
///
/// A secret is never printed. It is a class, so that only one copy of the bytes exists.
public final class Secret: Sendable {
    private struct Storage: @unchecked Sendable {
        var bytes: UnsafeMutableRawBufferPointer
    }

    private let storage: Mutex<Storage>

    /// Moves `bytes` into the secret and overwrites the array.
    public init(taking bytes: inout [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        storage = Mutex(Storage(bytes: copy))
        bytes.withUnsafeMutableBytes { Self.overwrite($0) }
        bytes.removeAll()
    }

    deinit {
        storage.withLock { storage in
            Self.overwrite(storage.bytes)
            storage.bytes.deallocate()
        }
    }

    /// Overwrites and removes the bytes.
    public func wipe() {
        storage.withLock { storage in
            Self.overwrite(storage.bytes)
            storage.bytes.deallocate()
            storage.bytes = .allocate(byteCount: 0, alignment: 1)
        }
    }

    /// Whether the secret has no bytes.
    public var isEmpty: Bool { storage.withLock { $0.bytes.isEmpty } }

    /// Calls `body` with the bytes, which must not escape.
    func withBytes<Result: Sendable>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try storage.withLock { try body(UnsafeRawBufferPointer($0.bytes)) }
    }

    /// Overwrites `bytes` with zeros in a way that the compiler cannot optimize away.
    static func overwrite(_ bytes: UnsafeMutableRawBufferPointer) {
        if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
    }
}

/// The parameters for deriving a key from a password by applying PBKDF2 once or twice.
///
/// Source: RFC 8018, section 5.2.
public struct PasswordDerivation: Hashable, Sendable {
    /// The parameters of one application of PBKDF2.
    public struct Step: Hashable, Sendable {
        /// The salt.
        public let salt: [UInt8]
        /// The number of iterations, which is at least 1.
        public let rounds: Int

        /// Creates a step.
        public init(salt: [UInt8], rounds: Int) {
            self.salt = salt
            self.rounds = rounds
        }
    }

    /// The first application, with HMAC-SHA-256, or `nil` if PBKDF2 is applied only once.
    public let first: Step?
    /// The last application, with HMAC-SHA-1, to the result of ``first`` or, if that is `nil`, to the password.
    public let last: Step

    /// Creates a derivation.
    public init(first: Step?, last: Step) {
        self.first = first
        self.last = last
    }

    /// The total number of iterations.
    public var rounds: Int { (first?.rounds ?? 0) + last.rounds }

    /// Derives the 32-byte key.
    ///
    /// Returns `nil` if the number of iterations of a step is less than 1 or greater than 2³² − 1.
    public func key(for password: Secret) -> CipherKey? {
        let middle = first.map { Self.derive(password, $0, .sha256) } ?? password
        return middle.flatMap { Self.derive($0, last, .sha1) }.flatMap { CipherKey($0) }
    }

    enum HashFunction { case sha1, sha256 }

    /// Derives 32 bytes with PBKDF2.
    static func derive(_ password: Secret, _ step: Step, _ hash: HashFunction) -> Secret? {
        // The library aborts the process for 0 iterations.
        guard let rounds = UInt32(exactly: step.rounds), rounds > 0 else { return nil }
        let function = hash == .sha1 ? nettle_pbkdf2_hmac_sha1 : nettle_pbkdf2_hmac_sha256
        var key = [UInt8](repeating: 0, count: 32)
        password.withBytes { bytes in
            let password = bytes.bindMemory(to: UInt8.self)
            function(password.count, password.baseAddress, rounds, step.salt.count, step.salt, key.count, &key)
        }
        return Secret(taking: &key)
    }
}

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
