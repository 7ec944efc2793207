import CNettle

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
