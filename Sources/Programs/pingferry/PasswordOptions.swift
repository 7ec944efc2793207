import ArgumentParser
import Capture
import Console
import Files
import FoundationEssentials
import Glibc
import Secrets

/// Where the passwords of encrypted backups come from: never from an argument, which others can see.
///
/// Source: "iOS backups", section 9.
struct PasswordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A file with the password of an encrypted backup in its first line, or a pipe. (repeatable) Otherwise \
            \(Self.variable) has it, or it is asked for.
            """, valueName: "file"), completion: .file())
    var passwordFile: [String] = []

    /// The variable of the environment that holds a password.
    static let variable = "PINGFERRY_BACKUP_PASSWORD"
    private static let sizeLimit = 4096
    /// Fewer rounds take no time that anybody would notice.
    private static let silentRoundLimit = 1_000_000

    /// The passwords that were given; others are asked for where somebody is there.
    func passwords(isQuiet: Bool) throws -> BackupPasswords {
        var known = try passwordFile.map { try Self.password(inFile: $0) }
        if let password = Self.takeFromEnvironment() { known.append(password) }
        let canAsk = !isQuiet && SecretPrompt.isAvailable
        return BackupPasswords(
            known, ask: canAsk ? Self.ask : nil, whileDeriving: isQuiet ? Self.derive : Self.deriveShowingProgress)
    }

    private static let derive: BackupPasswords.Waiting = { _, _, derive in derive() }

    /// Says what takes seconds, and takes the line away again.
    private static let deriveShowingProgress: BackupPasswords.Waiting = { path, rounds, derive in
        guard rounds > silentRoundLimit else { return derive() }
        let line = ProgressLine("unlocking", isQuiet: false)
        defer { line.clear() }
        line.show("unlocking \(path): \(rounds) rounds")
        return derive()
    }

    private static let ask: BackupPasswords.Asking = { path, isAgain in
        if isAgain { StandardError.write("pingferry: wrong password") }
        return SecretPrompt.ask("password of the backup \(path):")
    }

    /// Takes the password out of the environment, so that no child of this process inherits it.
    @discardableResult
    static func takeFromEnvironment() -> Secret? {
        guard let value = getenv(variable) else { return nil }
        let count = strlen(value)
        var bytes = Array(UnsafeRawBufferPointer(start: value, count: count))
        explicit_bzero(value, count)
        unsetenv(variable)
        let secret = Secret(taking: &bytes)
        return secret.isEmpty ? nil : secret
    }

    // MARK: Files

    /// The bytes to the first line feed, less a carriage return in front of it. All others belong to the password.
    private static func password(inFile path: String) throws -> Secret {
        var bytes = try contents(of: path)
        if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            // What is taken off belongs to no password.
            bytes.removeSubrange(end...)
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        guard !bytes.isEmpty else {
            throw CommandError(
                status: .badConfiguration, message: "\(path): B22 no password in its first line",
                remedy: "write the password into it, and nothing else")
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
                status: .badConfiguration, message: "\(path): others can read or change the password in it",
                remedy: "run chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: sizeLimit + 1)
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw FileError(.read, path) }
            if result == 0 { break }
            count += result
        }
        guard count <= sizeLimit else {
            throw CommandError(
                status: .badConfiguration, message: "\(path): more than \(sizeLimit) bytes, which is no password")
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
