import Files
import Foundation

/// A program that a test has started. What it reads and prints stands in files without names, so that neither side ever
/// waits for the other.
///
/// Not Foundation's `Process`, which reads beyond the end of a directory entry when it looks for open files, and so ends
/// the whole test run now and then (swift-corelibs-foundation, pull request 5472).
public final class RunningProgram: @unchecked Sendable {
    /// Its number.
    public let identifier: pid_t
    private let output: SpoolFile
    private let errors: SpoolFile
    /// Guards what follows: a number must not be used once another program may have it.
    private let lock = NSLock()
    private var ended: Int32?

    /// A program that cannot be started.
    public struct NotStarted: Error {
        /// Its path or name, and its arguments.
        public let command: [String]
        /// What the system says: an `errno`.
        public let code: Int32
    }

    /// Starts a program, which is looked up in the tests' own `PATH`, with no signal blocked or ignored.
    /// - Parameters:
    ///   - environment: all of its environment; the tests' own where there is none.
    ///   - input: what it finds on its standard input.
    public init(_ command: [String], environment: [String: String]? = nil, input: [UInt8] = []) throws {
        let folder = FileManager.default.temporaryDirectory.path
        let source = try SpoolFile(in: folder)
        (output, errors) = (try SpoolFile(in: folder), try SpoolFile(in: folder))
        try source.write(input.span, at: 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, file) in [source, output, errors].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, file.number, Int32(number))
        }
        // Files that other tests have open can be inherited. With a limit of 4 open files, a program that inherits one as
        // number 3 cannot load its libraries. To close a number that is not in use is no error.
        for number in Int32(3)..<64 { posix_spawn_file_actions_addclose(&actions, number) }
        var attributes = Self.attributes()
        defer { posix_spawnattr_destroy(&attributes) }
        let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
        let (words, values) = (Self.cStrings(command), Self.cStrings(variables))
        defer { (words + values).forEach { free($0) } }
        var identifier: pid_t = 0
        let code = posix_spawnp(&identifier, command[0], &actions, &attributes, words, values)
        guard code == 0 else { throw NotStarted(command: command, code: code) }
        self.identifier = identifier
    }

    /// Test runners block and ignore signals, and programs inherit that.
    private static func attributes() -> posix_spawnattr_t {
        var (attributes, blocked, ordinary) = (posix_spawnattr_t(), sigset_t(), sigset_t())
        posix_spawnattr_init(&attributes)
        sigemptyset(&blocked)
        sigfillset(&ordinary)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setsigdefault(&attributes, &ordinary)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        return attributes
    }

    private static func cStrings(_ strings: [String]) -> [UnsafeMutablePointer<CChar>?] {
        strings.map { strdup($0) } + [nil]
    }

    /// What it has printed until now.
    public var printed: [UInt8] { get throws { try Self.contents(of: output) } }

    /// What it has printed to standard error until now.
    public var complaints: [UInt8] { get throws { try Self.contents(of: errors) } }

    private static func contents(of file: SpoolFile) throws -> [UInt8] {
        var status = stat()
        fstat(file.number, &status)
        return try [UInt8](capacity: Int(status.st_size)) { span in
            try file.read(at: 0, into: &span)
        }
    }

    /// Whether it has not ended.
    public var isRunning: Bool { reap(WNOHANG) == nil }

    /// Sends it a signal, unless it has ended.
    public func send(_ signal: Int32) {
        lock.withLock { () -> Void in
            if ended == nil { kill(identifier, signal) }
        }
    }

    /// Waits until it has printed a line, or has ended.
    /// - Returns: the first line that it printed.
    public func firstLine() throws -> String {
        while true {
            let isLast = !isRunning
            let text = try printed
            if let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                return String(decoding: text[..<end], as: UTF8.self)
            }
            if isLast { return String(decoding: text, as: UTF8.self) }
            usleep(500)
        }
    }

    /// Waits until a file has at least `size` bytes, as a sign that the program is at work.
    ///
    /// - Throws: ``EndedEarly`` if the program ends before.
    public func waitForFile(at path: String, size: Int = 0) throws {
        var status = stat()
        while stat(path, &status) != 0 || status.st_size < size {
            guard isRunning else { throw EndedEarly(finished: try finish()) }
            usleep(500)
        }
    }

    /// A program ended before a test could interrupt it.
    public struct EndedEarly: Error {
        /// The exit status and the output of the program.
        public let finished: FinishedProgram
    }

    /// Waits for its end.
    /// - Returns: the exit status; of a signal, its number and 128, as a shell has it.
    @discardableResult
    public func wait() -> Int32 {
        var information = siginfo_t()
        // It stays as it is until the lock is held: until then its number is its own.
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return reap(0) ?? 0
    }

    private func reap(_ options: Int32) -> Int32? {
        lock.withLock {
            if let ended { return ended }
            var status: Int32 = 0
            guard waitpid(identifier, &status, options) == identifier else { return nil }
            ended = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
            return ended
        }
    }
}
