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
    /// The prompt names the backup by `path`, and an error describes it by `origin`.
    func unlock(_ bag: Keybag, path: String, origin: String = "") throws(BackupError) -> ClassKeys {
        let count = state.withLock { $0.passwords.count }
        for index in 0..<count {
            if let keys = try keys(of: bag, password: index, path: path, origin) { return keys }
        }
        var hasPassword = count > 0
        for _ in 0..<Self.promptLimit {
            guard let answer = prompt?(path, hasPassword) else { break }
            hasPassword = true
            let index = state.withLock { state in
                state.passwords.append(answer)
                return state.passwords.count - 1
            }
            if let keys = try keys(of: bag, password: index, path: path, origin) { return keys }
        }
        guard hasPassword else {
            throw BackupError("B19", "no password for the encrypted backup\(origin)", cause: .password)
        }
        throw BackupError(
            "B20",
            "wrong password for the encrypted backup\(origin); letters with accents may have been typed in another form",
            cause: .password)
    }

    private func keys(
        of bag: Keybag, password index: Int, path: String, _ origin: String
    ) throws(BackupError) -> ClassKeys? {
        let keyID = DerivedKeyID(passwordIndex: index, derivation: bag.derivation)
        let (knownKey, password) = state.withLock { ($0.keys[keyID], $0.passwords[index]) }
        if let key = knownKey { return ClassKeys(bag, under: key) }
        let rounds = bag.derivation.rounds
        guard state.withLock({ $0.spend(rounds) }) else {
            throw BackupError(
                "B25",
                "the encrypted backup\(origin) was not opened: its keybag requires \(rounds) rounds, which exceeds the rest of "
                    + "the \(InputLimits.totalRoundCount) rounds allowed for all backups of a command", cause: .budget)
        }
        guard let key = deriveKey(path, rounds, { bag.derivation.key(for: password) }) else { return nil }
        state.withLock { $0.keys[keyID] = key }
        return ClassKeys(bag, under: key)
    }
}
