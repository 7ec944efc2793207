import Files

/// Why a backup cannot be read at all.
///
/// Source: "iOS backups", section 10.
public struct BackupError: Error, Sendable, CustomStringConvertible {
    /// What the user can do about it.
    public enum Cause: Sendable, Equatable {
        /// A password is missing or wrong.
        case password
        /// The backups of the command before this one took all the time that a command spends on passwords.
        case budget
        /// The backup is damaged, or beyond what is read.
        case damage
        /// The operating system, or the spool.
        case file(FileError)
    }

    /// What the user can do about it.
    public let cause: Cause
    /// The case id, a space, and words.
    public let description: String

    init(_ id: String, _ words: String, cause: Cause = .damage) {
        self.cause = cause
        description = "\(id) \(words)"
    }

    init(_ error: FileError) {
        cause = .file(error)
        description = error.description
    }

    /// Calls `body`, and rethrows its error as a `BackupError`.
    static func wrapping<Value: ~Copyable>(_ body: () throws(FileError) -> Value) throws(BackupError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw BackupError(error)
        }
    }

    /// Whether there is no room for what has to be copied to be read.
    var isWithoutRoom: Bool {
        if case .file(let error) = cause { error.operation == .spool } else { false }
    }

    /// What to do next.
    public var remedy: String? {
        switch cause {
        case .password:
            "give --password-file FILE, or set PINGFERRY_BACKUP_PASSWORD, or run the command on a terminal, which asks"
        case .budget: "give the backup to a command of its own"
        case .damage: "make the backup again, or copy it again from where it was made"
        case .file: nil
        }
    }
}
