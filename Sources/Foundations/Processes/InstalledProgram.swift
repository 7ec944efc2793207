import Glibc

/// Another program of this machine, which is run without a shell.
///
/// ```swift
/// let program = try InstalledProgram("sort", searching: "/usr/bin:/bin")
/// let result = try program.run(["-r"], environment: ["LC_ALL": "C"]) { write in
///     _ = try write(text.utf8.span)
/// }
/// ```
public struct InstalledProgram: Sendable {
    /// Where it is.
    public let path: String

    /// Looks for a program.
    /// - Parameters:
    ///   - name: its name, without a folder.
    ///   - folders: the value of `PATH`. An empty part of it would be the current folder, and is not looked at: anybody may
    ///     have put a program there.
    /// - Throws: ``ProgramError/missing(_:)``.
    public init(_ name: String, searching folders: String) throws(ProgramError) {
        let paths = folders.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else { throw .missing(name) }
        self.path = path
    }

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - arguments: what stands behind its name.
    ///   - environment: all that it gets; nothing of our own environment is handed on.
    ///   - feed: writes the program's standard input. What it is given takes bytes, and says whether the program still
    ///     reads; one that has ended before is no error.
    /// - Throws: ``ProgramError``, and what `feed` throws: the program is ended then.
    public func run(
        _ arguments: [String], environment: [String: String],
        feeding feed: ((Span<UInt8>) throws -> Bool) throws -> Void = { _ in }
    ) throws -> ProgramResult {
        let output = try ProgramFile(of: path)
        let errors = try ProgramFile(of: path)
        let settings = environment.map { "\($0.key)=\($0.value)" }.sorted()
        let process = try RunningProgram(path, [path] + arguments, settings, output: output, errors: errors)
        try feed { try process.write($0) }
        let status = try process.finish()
        return ProgramResult(status: status, output: output.head, errors: errors.head)
    }
}

/// What is left of a program that was run.
public struct ProgramResult: Sendable, Equatable {
    /// Its exit status; 128 + n where signal n ended it.
    public let status: Int32
    /// The first 64 KiB that it wrote to its standard output.
    public let output: [UInt8]
    /// The first 64 KiB that it wrote to its standard error.
    public let errors: [UInt8]

    /// Describes the end of a program.
    public init(status: Int32, output: [UInt8], errors: [UInt8]) {
        self.status = status
        self.output = output
        self.errors = errors
    }
}
