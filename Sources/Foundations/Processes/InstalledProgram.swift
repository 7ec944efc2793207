import Glibc

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
