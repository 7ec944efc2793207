import Bytes
import DeviceBackup
import Hashing
import Synchronization

/// The passwords for the backups of a command, and the prompt for more passwords.
///
/// Every known password is tried on each keybag, the list of encrypted keys in a backup. The type is a class because
/// all inputs of a command share the passwords.
///
/// Source: "iOS backups", section 9.
public final class BackupPasswords: Sendable {
    /// A closure that asks for the password of the backup at `path`, and returns `nil` if there is no answer.
    ///
    /// `isRetry` states whether at least one other password was tried and is wrong.
    public typealias Prompt = @Sendable (_ path: String, _ isRetry: Bool) -> Secret?

    /// A closure that derives a key by calling `derive`, and returns the key, or `nil` if `derive` returns `nil`.
    ///
    /// A call of `derive` may take seconds. The closure can show a message during that time.
    public typealias KeyDerivation = @Sendable (_ path: String, _ rounds: Int, _ derive: () -> CipherKey?) -> CipherKey?

    private struct DerivedKeyID: Hashable {
        let passwordIndex: Int
        let derivation: PasswordDerivation
    }

    private struct State {
        var passwords: [Secret]
        var keys: [DerivedKeyID: CipherKey] = [:]
        var roundsLeft: Int

        /// Subtracts `rounds` from `roundsLeft` if enough rounds are left, and returns whether they are.
        mutating func spend(_ rounds: Int) -> Bool {
            guard rounds <= roundsLeft else { return false }
            roundsLeft -= rounds
            return true
        }
    }

    /// The reason why a keybag cannot be unlocked.
    enum UnlockError: Error, Equatable {
        case noPassword
        /// None of the passwords unlocks a key.
        case wrongPassword
        /// The next derivation, with this number of rounds, would exceed the limit for the command.
        case outOfBudget(rounds: Int)
    }

    private let state: Mutex<State>
    private let prompt: Prompt?
    private let deriveKey: KeyDerivation

    /// The maximum number of times that the user is asked for the password of one backup.
    private static let promptLimit = 3

    /// Creates a set of passwords.
    ///
    /// - Parameters:
    ///   - passwords: The passwords, in the order in which they are tried.
    ///   - prompt: Asks for another password, or `nil` if there is no terminal.
    ///   - roundBudget: The maximum number of key derivation rounds for all backups.
    ///   - deriveKey: Derives each key, and can show progress meanwhile.
    public init(
        _ passwords: [Secret] = [], ask prompt: Prompt? = nil, roundBudget: Int = InputLimits.totalRoundCount,
        whileDeriving deriveKey: @escaping KeyDerivation = { $2() }
    ) {
        state = Mutex(State(passwords: passwords, roundsLeft: roundBudget))
        self.prompt = prompt
        self.deriveKey = deriveKey
    }

    /// Overwrites the passwords and discards the keys, so that no other backup can be opened.
    public func wipe() {
        state.withLock { state in
            for password in state.passwords { password.wipe() }
            state = State(passwords: [], roundsLeft: state.roundsLeft)
        }
    }

    /// Returns the keys in `bag`, trying known passwords before asking the user.
    ///
    /// The prompt names the backup by `path`.
    func unlock(_ bag: Keybag, path: String) throws(UnlockError) -> ClassKeys {
        let count = state.withLock { $0.passwords.count }
        for index in 0..<count {
            if let keys = try keys(of: bag, password: index, path: path) { return keys }
        }
        var hasPassword = count > 0
        for _ in 0..<Self.promptLimit {
            guard let answer = prompt?(path, hasPassword) else { break }
            hasPassword = true
            let index = state.withLock { state in
                state.passwords.append(answer)
                return state.passwords.count - 1
            }
            if let keys = try keys(of: bag, password: index, path: path) { return keys }
        }
        throw hasPassword ? .wrongPassword : .noPassword
    }

    private func keys(of bag: Keybag, password index: Int, path: String) throws(UnlockError) -> ClassKeys? {
        let keyID = DerivedKeyID(passwordIndex: index, derivation: bag.derivation)
        let (knownKey, password) = state.withLock { ($0.keys[keyID], $0.passwords[index]) }
        if let key = knownKey { return ClassKeys(bag, under: key) }
        let rounds = bag.derivation.rounds
        guard state.withLock({ $0.spend(rounds) }) else { throw .outOfBudget(rounds: rounds) }
        guard let key = deriveKey(path, rounds, { bag.derivation.key(for: password) }) else { return nil }
        state.withLock { $0.keys[keyID] = key }
        return ClassKeys(bag, under: key)
    }
}
