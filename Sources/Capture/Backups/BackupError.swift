import Files

/// An error that prevents a backup from being read.
///
/// Source: "iOS backups", section 10.
public struct BackupError: Error, Sendable, CustomStringConvertible {
    /// The cause of a backup error, which determines what the user can do.
    public enum Cause: Sendable, Equatable {
        /// The password is missing or wrong.
        case password
        /// The next key derivation would exceed the maximum number of rounds for all backups of a command.
        case budget
        /// The backup is damaged or exceeds a limit.
        case damage
        /// A file cannot be read, or the spool cannot be written.
        case file(FileError)
    }

    /// The cause of the error.
    public let cause: Cause
    /// The description, which begins with a case ID such as `B19` unless the operating system reported the error.
    public let description: String

    init(_ caseID: String, _ text: String, cause: Cause = .damage) {
        self.cause = cause
        description = "\(caseID) \(text)"
    }

    init(_ error: FileError) {
        cause = .file(error)
        description = error.description
    }

    static func wrapping<Value: ~Copyable>(_ body: () throws(FileError) -> Value) throws(BackupError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw BackupError(error)
        }
    }

    var isSpoolFailure: Bool {
        if case .file(let error) = cause { error.operation == .spool } else { false }
    }

    /// The suggested next step for the user, or `nil` if there is none.
    public var remedy: String? {
        switch cause {
        case .password:
            "use --password-file FILE, set PINGFERRY_BACKUP_PASSWORD, or run the command in a terminal to enter the password"
        case .budget: "run a separate command for this backup"
        case .damage: "make the backup again, or copy it again from the computer that made it"
        case .file: nil
        }
    }
}
