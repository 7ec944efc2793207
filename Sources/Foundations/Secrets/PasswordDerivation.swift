import CNettle

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

    /// Derives the key of 32 bytes. Returns `nil` if a step has no rounds, or more than 2³² − 1.
    public func key(for password: Secret) -> CipherKey? {
        let middle = first.map { Self.derive(password, $0, .sha256) } ?? password
        return middle.flatMap { Self.derive($0, last, .sha1) }.flatMap { CipherKey($0) }
    }

    /// The hash function of an HMAC.
    enum HashFunction { case sha1, sha256 }

    /// Derives 32 bytes with PBKDF2.
    static func derive(_ password: Secret, _ step: Step, _ hash: HashFunction) -> Secret? {
        // The library stops the program for 0 rounds.
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
