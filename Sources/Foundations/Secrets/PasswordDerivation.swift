import Crypto
import CryptoExtras
import FoundationEssentials

/// How a key is made of a password: PBKDF2 once or twice.
///
/// Source: RFC 8018, section 5.2.
public struct PasswordDerivation: Hashable, Sendable {
    /// What one PBKDF2 is given besides the password.
    public struct Step: Hashable, Sendable {
        /// The salt.
        public let salt: [UInt8]
        /// How many rounds are made; at least 1.
        public let rounds: Int

        /// Describes a step.
        public init(salt: [UInt8], rounds: Int) {
            self.salt = salt
            self.rounds = rounds
        }
    }

    /// PBKDF2 with HMAC-SHA-256, of the password; nil if there is none.
    public let first: Step?
    /// PBKDF2 with HMAC-SHA-1, of what came out of the first one, or of the password.
    public let last: Step

    /// Describes a derivation.
    public init(first: Step?, last: Step) {
        self.first = first
        self.last = last
    }

    /// How many rounds are made, all told.
    public var rounds: Int { (first?.rounds ?? 0) + last.rounds }

    /// Makes the key of 32 bytes; nil if the library refuses the numbers.
    public func key(for password: Secret) -> CipherKey? {
        password.withBytes { bytes in
            guard let first else { return Self.derive(bytes, .insecureSHA1, last).map(CipherKey.init) }
            return Self.derive(bytes, .sha256, first)?.withUnsafeBytes { middle in
                Self.derive(middle, .insecureSHA1, last).map(CipherKey.init)
            }
        }
    }

    private static func derive(
        _ password: UnsafeRawBufferPointer, _ hash: KDF.Insecure.PBKDF2.HashFunction, _ step: Step
    ) -> SymmetricKey? {
        // The form that checks the rounds refuses those that phones use.
        try? KDF.Insecure.PBKDF2.deriveKey(
            from: password, salt: step.salt, using: hash, outputByteCount: 32, unsafeUncheckedRounds: step.rounds)
    }
}
