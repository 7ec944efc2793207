import CLibrary
import CProcesses

/// An installed program that is run without a shell.
///
/// ```swift
/// let program = try InstalledProgram("sort", searching: "/usr/bin:/bin")
/// let result = try program.run(["-r"], environment: ["LC_ALL": "C"]) { write in
///     _ = try write(text.utf8.span)
/// }
/// ```
public struct InstalledProgram: Sendable {
    /// The absolute path of the program.
    public let path: String

    /// Finds the program `name` in `folders`, which is the value of `PATH`.
    ///
    /// Relative and empty parts of `PATH` are ignored, because anyone may have placed a program in the current folder.
    public init(_ name: String, searching folders: String) throws(ProgramError) {
        let paths = folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else { throw .missing(name) }
        self.path = path
    }

    /// Runs the program and waits until it exits.
    ///
    /// - Parameters:
    ///   - arguments: The arguments that follow the name of the program.
    ///   - environment: The complete environment. The environment of this process is not inherited.
    ///   - feed: Writes the standard input. The function that it receives writes bytes, and returns whether the program
    ///     still reads its input. The program may exit before it has read all input.
    /// - Returns: The exit status and the beginning of the output.
    /// - Throws: ``ProgramError``, or the error of `feed`. If `feed` throws an error, the program is terminated.
    public func run(
        _ arguments: [String], environment: [String: String],
        feeding feed: ((Span<UInt8>) throws -> Bool) throws -> Void = { _ in }
    ) throws -> ProgramResult {
        let output = try OutputFile(of: path)
        let errors = try OutputFile(of: path)
        let settings = environment.map { "\($0.key)=\($0.value)" }.sorted()
        let process = try ChildProcess(path, [path] + arguments, settings, output: output, errors: errors)
        try feed { try process.write($0) }
        let status = try process.finish()
        return ProgramResult(status: status, output: output.head, outputEnd: output.end, errors: errors.head)
    }
}

/// The exit status and the output of a program that was run.
public struct ProgramResult: Sendable, Equatable {
    /// The exit status, or 128 + *n* if signal *n* terminated the program.
    public let status: Int32
    /// The first 64 KiB of the standard output.
    public let output: [UInt8]
    /// The last 4 KiB of the standard output.
    public let outputEnd: [UInt8]
    /// The first 64 KiB of the standard error.
    public let errors: [UInt8]

    /// Creates a result, whose output has no other end than `output` if `outputEnd` is `nil`.
    public init(status: Int32, output: [UInt8], outputEnd: [UInt8]? = nil, errors: [UInt8]) {
        self.status = status
        self.output = output
        self.outputEnd = outputEnd ?? output.suffix(4 << 10)
        self.errors = errors
    }

    /// Returns the lines of an output that are not empty.
    public static func lines(of output: [UInt8]) -> [String] {
        String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
    }
}

/// An error in running another program.
public enum ProgramError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No folder of `PATH` contains a program with this name.
    case missing(String)
    /// Starting the program at this path, writing to it or waiting for it failed with this `errno` code.
    case notStarted(String, code: Int32)

    /// The error as one line without a full stop.
    public var description: String {
        switch self {
        case .missing(let name): "\(name) is not installed: no folder of PATH contains it"
        case .notStarted(let path, let code): "cannot run \(path): \(String(cString: strerror(code)))"
        }
    }
}

/// A file in memory that receives the output of a program.
///
/// Unlike a pipe, the file never blocks the program, so that no deadlock can occur while this process writes the input.
private struct OutputFile: ~Copyable {
    /// The maximum number of bytes that are read from the file.
    private static let maximumSize = 64 << 10

    let descriptor: Int32

    init(of program: String) throws(ProgramError) {
        descriptor = cprocesses_memory_file("pingferry")
        guard descriptor >= 0 else { throw .notStarted(program, code: errno) }
    }

    deinit { close(descriptor) }

    /// The beginning of the output, up to ``maximumSize`` bytes.
    var head: [UInt8] { bytes(at: 0, count: Self.maximumSize) }

    /// The end of the output, up to 4 KiB.
    var end: [UInt8] {
        let count = 4 << 10
        return bytes(at: max(0, Int(lseek(descriptor, 0, SEEK_END)) - count), count: count)
    }

    private func bytes(at offset: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
        }
    }
}

/// A running process, which is terminated when the value is destroyed.
private struct ChildProcess: ~Copyable {
    private let path: String
    private let processID: Int32
    /// The write end of the pipe to the standard input of the process, or `nil` once it is closed.
    private var inputDescriptor: Int32?
    private var hasExited = false

    init(
        _ path: String, _ arguments: [String], _ environment: [String], output: borrowing OutputFile,
        errors: borrowing OutputFile
    ) throws(ProgramError) {
        var pipeEnds: [Int32] = [-1, -1]
        let code = cprocesses_pipe(&pipeEnds)
        guard code == 0 else { throw .notStarted(path, code: code) }
        defer { close(pipeEnds[0]) }
        var process: Int32 = 0
        let started = Self.withCStrings(arguments) { arguments in
            Self.withCStrings(environment) { environment in
                cprocesses_start(
                    path, arguments, environment, pipeEnds[0], output.descriptor, errors.descriptor, &process)
            }
        }
        guard started == 0 else {
            close(pipeEnds[1])
            throw .notStarted(path, code: started)
        }
        self.path = path
        processID = process
        inputDescriptor = pipeEnds[1]
    }

    deinit {
        if let inputDescriptor { close(inputDescriptor) }
        if !hasExited {
            kill(processID, SIGTERM)
            _ = cprocesses_wait(processID)
        }
    }

    /// Writes `bytes` to the standard input of the process, and returns whether the process still reads its input.
    borrowing func write(_ bytes: Span<UInt8>) throws(ProgramError) -> Bool {
        guard let inputDescriptor else { return false }
        let code = bytes.withUnsafeBytes { cprocesses_write(inputDescriptor, $0.baseAddress, $0.count) }
        guard code == 0 || code == EPIPE else { throw .notStarted(path, code: code) }
        return code == 0
    }

    /// Waits until the process exits, and returns its exit status.
    consuming func finish() throws(ProgramError) -> Int32 {
        if let input = inputDescriptor.take() { close(input) }
        hasExited = true
        let status = cprocesses_wait(processID)
        guard status >= 0 else { throw .notStarted(path, code: errno) }
        return status
    }

    private static func withCStrings<Value>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
    ) -> Value {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}
