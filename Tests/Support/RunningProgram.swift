import Files
import Foundation

/// The folders that are searched for programs, in the format of `PATH`.
///
/// A program that does not inherit the environment of the tests needs this value, because `make test` provides only the
/// declared programs.
public let searchPath = ProcessInfo.processInfo.environment["PATH"] ?? ""

/// Whether a pseudoterminal can be opened, which requires a file system such as `/dev/pts`.
public let canOpenTerminal = (try? tool("python3", "-c", "import os; os.openpty()")) != nil

/// Returns the environment variables that start a program with its clock at `instant`.
///
/// The program `faketime` is not used: it names a semaphore after its process id, and fails if a killed process with the
/// same id has left one. The library then creates another. It also changes timers, so that waits never end.
///
/// - Parameter instant: The time in `TZ`, such as `2026-06-03 12:00:00`. The clock stands still unless `@` precedes it.
/// - Returns: The names and values of the variables.
public func clockVariables(_ instant: String) -> [String: String] {
    [
        "LD_PRELOAD": "/usr/$LIB/faketime/libfaketimeMT.so.1", "FAKETIME": instant, "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    ]
}

/// A program that a test has started.
///
/// The input and output of the program are unnamed temporary files, so that neither side ever waits for the other.
/// Foundation's `Process` is not used because it reads beyond the end of a directory entry when it searches for open
/// files, and so sometimes crashes the whole test run (swift-corelibs-foundation, pull request 5472).
public final class RunningProgram: @unchecked Sendable {
    /// The process id.
    public let identifier: pid_t
    private let output: SpoolFile
    private let errors: SpoolFile
    /// The lock of `ended`.
    ///
    /// A process id must not be used after it may belong to another process.
    private let lock = NSLock()
    private var ended: Int32?

    /// An error that reports that a program could not be started.
    public struct NotStarted: Error {
        /// The path or name of the program, and its arguments.
        public let command: [String]
        /// The `errno` code.
        public let code: Int32
    }

    /// Starts a program with no signals blocked or ignored.
    ///
    /// - Parameters:
    ///   - command: The path or name of the program, which is searched for in `PATH`, and its arguments.
    ///   - environment: The environment variables of the program, or `nil` for those of the tests.
    ///   - input: The contents of standard input.
    /// - Throws: ``NotStarted`` if the program cannot be started, or an error if a file cannot be created.
    public init(_ command: [String], environment: [String: String]? = nil, input: [UInt8] = []) throws {
        let folder = FileManager.default.temporaryDirectory.path
        let source = try SpoolFile(in: folder)
        (output, errors) = (try SpoolFile(in: folder), try SpoolFile(in: folder))
        try source.write(input.span, at: 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, file) in [source, output, errors].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, file.descriptorNumber, Int32(number))
        }
        // The program could inherit open files of other tests. With a limit of 4 open files, it could then not load its
        // libraries. Closing an unused number is not an error.
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

    /// Returns attributes that reset signals, because test runners block and ignore some and programs inherit that.
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

    /// The bytes that have been written to standard output so far.
    public var printed: [UInt8] { get throws { try Self.contents(of: output) } }

    /// The bytes that have been written to standard error so far.
    public var errorOutput: [UInt8] { get throws { try Self.contents(of: errors) } }

    private static func contents(of file: SpoolFile) throws -> [UInt8] {
        var status = stat()
        fstat(file.descriptorNumber, &status)
        return try [UInt8](capacity: Int(status.st_size)) { span in
            try file.read(at: 0, into: &span)
        }
    }

    /// Whether the program is still running.
    public var isRunning: Bool { reap(WNOHANG) == nil }

    /// Sends a signal to the program, unless it has ended.
    public func send(_ signal: Int32) {
        lock.withLock { () -> Void in
            if ended == nil { kill(identifier, signal) }
        }
    }

    /// Waits until the program has written a line or has ended, and returns the first line.
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

    /// Waits until a file has at least `size` bytes.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - size: The minimum size, in bytes.
    /// - Throws: ``EndedEarly`` if the program ends before that.
    public func waitForFile(at path: String, size: Int = 0) throws {
        var status = stat()
        while stat(path, &status) != 0 || status.st_size < size {
            guard isRunning else { throw EndedEarly(finished: try finish()) }
            usleep(500)
        }
    }

    /// An error that reports that a program ended before a test could interrupt it.
    public struct EndedEarly: Error {
        /// The exit status and the output of the program.
        public let finished: FinishedProgram
    }

    /// Runs a program until it ends, and returns the number of bytes that it read and wrote.
    ///
    /// The number does not depend on the speed of the machine. It includes the bytes of the program's libraries that
    /// were read instead of mapped, and few bytes of the shell that starts it.
    public static func countBytes(running arguments: [String]) throws -> Int {
        // Only root can read the counters of a process that has ended, but they are added to those of the shell.
        let shell = #""$0" "$@" > /dev/null 2>&1; exec cat /proc/$$/io"#
        let counters = try RunningProgram(["sh", "-c", shell] + arguments).finish()
        let numbers = counters.lines.compactMap { line in
            ["rchar: ", "wchar: "].contains { line.hasPrefix($0) } ? Int(line.dropFirst(7)) : nil
        }
        return numbers.reduce(0, +)
    }

    /// Waits for the end of the program.
    ///
    /// - Returns: The exit status, or 128 plus the number of the signal that ended the program.
    @discardableResult
    public func wait() -> Int32 {
        waitWithoutReaping()
        return reap(0) ?? 0
    }

    private func waitWithoutReaping() {
        var information = siginfo_t()
        // WNOWAIT keeps the process id reserved until the status is collected, with the lock held.
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
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
