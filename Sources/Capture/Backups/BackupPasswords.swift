import DeviceBackup
import Secrets
import Synchronization

/// The passwords for the backups of a command, and the prompt for more passwords.
///
/// Every known password is tried on each keybag, the list of encrypted keys in a backup. It is a class because all
/// inputs of a command share it.
///
/// Source: "iOS backups", section 9.
public final class BackupPasswords: Sendable {
    /// Asks for the password of the backup at `path`, or returns `nil` if there is no answer.
    ///
    /// `isAgain` states whether the previous answer was wrong.
    public typealias Prompt = @Sendable (_ path: String, _ isAgain: Bool) -> Secret?

    /// Derives a key by calling `derive`, which may take seconds.
    ///
    /// The closure can show a message during that time.
    public typealias KeyDerivation = @Sendable (_ path: String, _ rounds: Int, _ derive: () -> CipherKey?) -> CipherKey?

    private struct DerivedKeyID: Hashable {
        let password: Int
        let derivation: PasswordDerivation
    }

    private struct State {
        var passwords: [Secret]
        var keys: [DerivedKeyID: CipherKey] = [:]
        var roundsLeft: Int

        /// Subtracts `rounds` from `roundsLeft`, and returns whether enough rounds were left.
        mutating func spend(_ rounds: Int) -> Bool {
            guard rounds <= roundsLeft else { return false }
            roundsLeft -= rounds
            return true
        }
    }

    /// The reason why a keybag cannot be unlocked.
    enum UnlockError: Error, Equatable {
        case missing
        /// None of the passwords unlocks a key.
        case wrong
        /// The next derivation, with this number of rounds, would exceed the limit for the command.
        case outOfBudget(rounds: Int)
    }

    /// The maximum number of key derivation rounds for all backups of a command.
    ///
    /// Without the limit, hostile backups could take hours. It allows about a hundred current backups, which take
    /// minutes.
    public static let roundBudget = 1_000_000_000

    private let state: Mutex<State>
    private let ask: Prompt?
    private let wait: KeyDerivation

    /// The maximum number of times that the user is asked for the password of one backup.
    private static let questionLimit = 3

    /// Creates a set of passwords.
    ///
    /// - Parameters:
    ///   - known: The passwords, in the order in which they are tried.
    ///   - ask: Asks for another password, or `nil` if there is no terminal.
    ///   - roundBudget: The maximum number of key derivation rounds for all backups.
    ///   - wait: Derives each key, and can show progress meanwhile.
    public init(
        _ known: [Secret] = [], ask: Prompt? = nil, roundBudget: Int = BackupPasswords.roundBudget,
        whileDeriving wait: @escaping KeyDerivation = { $2() }
    ) {
        state = Mutex(State(passwords: known, roundsLeft: roundBudget))
        self.ask = ask
        self.wait = wait
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
        for _ in 0..<Self.questionLimit {
            guard let answer = ask?(path, hasPassword) else { break }
            hasPassword = true
            let index = state.withLock { state in
                state.passwords.append(answer)
                return state.passwords.count - 1
            }
            if let keys = try keys(of: bag, password: index, path: path) { return keys }
        }
        throw hasPassword ? .wrong : .missing
    }

    private func keys(of bag: Keybag, password index: Int, path: String) throws(UnlockError) -> ClassKeys? {
        let derived = DerivedKeyID(password: index, derivation: bag.derivation)
        let known = state.withLock { ($0.keys[derived], $0.passwords[index]) }
        if let key = known.0 { return ClassKeys(bag, under: key) }
        let rounds = bag.derivation.rounds
        guard state.withLock({ $0.spend(rounds) }) else { throw .outOfBudget(rounds: rounds) }
        guard let key = wait(path, rounds, { bag.derivation.key(for: known.1) }) else { return nil }
        state.withLock { $0.keys[derived] = key }
        return ClassKeys(bag, under: key)
    }
}
