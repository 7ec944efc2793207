import ArgumentParser
import CLibrary
import Capture
import Console
import Essentials
import Files
import Hashing

/// The options for passwords of encrypted backups.
///
/// A password is never an argument, because other users can see the arguments of a process.
///
/// Source: "iOS backups", section 9.
struct PasswordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A file or a pipe with the password of an encrypted backup in its first line. (repeatable) Otherwise the \
            password is taken from \(Self.passwordVariable) or requested on the terminal.
            """, valueName: "file"), completion: .file())
    var passwordFile: [String] = []

    @Option(
        help: ArgumentHelp(
            "A shell command that prints the password of an encrypted backup in its first line. (repeatable)",
            valueName: "command"))
    var passwordCommand: [String] = []

    /// The environment variable that contains a password.
    static let passwordVariable = "PINGFERRY_BACKUP_PASSWORD"
    private static let maximumFileSize = 4096
    /// The maximum number of key derivation rounds for which no progress line is shown.
    private static let maximumSilentRounds = 1_000_000

    /// Returns the given passwords, with a prompt for others if there is a terminal and `isQuiet` is `false`.
    func passwords(isQuiet: Bool) throws -> BackupPasswords {
        var known = try passwordFile.map { try Self.password(in: try Self.contents(of: $0), of: $0) }
        known += try passwordCommand.map { command in
            let option = "--password-command"
            let environment = ProcessInfo.processInfo.environment.filter { $0.key != Self.passwordVariable }
            return try Self.password(
                in: try SecretCommand.output(of: command, option, environment: environment), of: option)
        }
        if let password = Self.takePasswordFromEnvironment() { known.append(password) }
        let canAsk = !isQuiet && SecretPrompt.isAvailable
        return BackupPasswords(
            known, ask: canAsk ? Self.promptForPassword : nil,
            whileDeriving: isQuiet ? Self.derive : Self.deriveShowingProgress)
    }

    private static let derive: BackupPasswords.KeyDerivation = { _, _, derive in derive() }

    /// Derives a key while showing a progress line, because derivation can take seconds.
    private static let deriveShowingProgress: BackupPasswords.KeyDerivation = { path, rounds, derive in
        guard rounds > maximumSilentRounds else { return derive() }
        let line = ProgressLine("unlocking", isQuiet: false)
        defer { line.clear() }
        line.show("unlocking \(path): \(rounds) rounds")
        return derive()
    }

    private static let promptForPassword: BackupPasswords.Prompt = { path, isAgain in
        if isAgain { StandardError.write("pingferry: wrong password") }
        return SecretPrompt.ask("password of the backup \(path):")
    }

    /// Returns the password in the environment variable, or `nil` if the variable is missing or empty.
    ///
    /// The variable is removed, so that child processes do not inherit the password.
    @discardableResult
    static func takePasswordFromEnvironment() -> Secret? {
        guard let value = getenv(passwordVariable) else { return nil }
        let count = strlen(value)
        var bytes = Array(UnsafeRawBufferPointer(start: value, count: count))
        explicit_bzero(value, count)
        unsetenv(passwordVariable)
        let secret = Secret(taking: &bytes)
        return secret.isEmpty ? nil : secret
    }

    // MARK: Files

    /// Returns the password in the first line of the file at `path`, without the line ending.
    private static func password(in contents: consuming [UInt8], of path: String) throws -> Secret {
        var bytes = contents
        if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            bytes.removeSubrange(end...)
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        guard !bytes.isEmpty else {
            throw CommandError(
                status: .badConfiguration, path: path, message: "no password in its first line",
                remedy: "the first line must be the password")
        }
        return Secret(taking: &bytes)
    }

    private static func contents(of path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw FileError(.open, path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError(.stat, path) }
        let isFile = status.st_mode & S_IFMT == S_IFREG
        guard !isFile || status.st_mode & (S_IRWXG | S_IRWXO) == 0 else {
            throw CommandError(
                status: .badConfiguration, path: path,
                message: "other users can read or change the password in this file",
                remedy: "run chmod 600 \(path)")
        }
        let bytes = try [UInt8](capacity: maximumFileSize + 1) { output throws(FileError) in
            _ = try output.fill(.read, path) { free, _ in read(descriptor, free.baseAddress, free.count) }
        }
        guard bytes.count <= maximumFileSize else {
            throw CommandError(
                status: .badConfiguration,
                path: path, message: "more than \(maximumFileSize) bytes, which is too long for a password")
        }
        return bytes
    }
}
