import ArgumentParser
import Files

/// A shell command that prints a secret, such as `pass show backup`.
public enum SecretCommand {
    /// The maximum number of bytes of a secret.
    public static let maximumSize = 64 << 10

    /// Runs the value of `option`, and returns what it wrote to standard output.
    ///
    /// The command has the environment of this process and an empty standard input.
    public static func output(
        of command: String, _ option: String, environment: [String: String]
    ) throws -> [UInt8] {
        let result: ProgramResult
        do {
            result = try InstalledProgram("sh", searching: "/bin:/usr/bin")
                .run(["-c", command], environment: environment)
        } catch let error as ProgramError {
            throw CommandError(status: .badConfiguration, message: "\(option): \(error)")
        }
        guard result.status == 0 else {
            let reason = ProgramResult.lines(of: result.errors).last.map { ": \($0)" } ?? ""
            throw CommandError(
                status: .badConfiguration,
                message: "\(option): the command ended with status \(result.status)\(reason)",
                remedy: "run it in a shell; it must print only the secret")
        }
        guard result.output.count < maximumSize else {
            throw CommandError(
                status: .badConfiguration, message: "\(option): the command printed \(maximumSize) bytes or more")
        }
        return result.output
    }
}

/// The files of one command, which are compared before any work starts.
///
/// An output must not replace a file that the command reads, such as a bundle, a key or the ledger, or a file of another
/// output. Files are compared by their identities, so that links and different spellings of a path do not matter.
public struct CommandFiles {
    private struct Output {
        /// The option that specifies the output.
        let option: String
        let path: String
        let identity: PathIdentity
        /// Whether the command also reads the file, so that no other output may replace it.
        let isKept: Bool
    }

    private var inputs: Set<PathIdentity> = []
    private var outputs: [Output] = []

    /// Creates an empty list.
    public init() {}

    /// Adds files that the command reads.
    ///
    /// Empty paths and `-`, which is standard input, are ignored.
    public mutating func read(_ paths: [String]) {
        inputs.formUnion(paths.compactMap(Self.identity))
    }

    /// Adds the files that the output of `option` creates, replaces or removes.
    ///
    /// The path `-`, which is standard output, is ignored.
    public mutating func write(_ option: String, _ paths: [String]) { add(option, paths, isKept: false) }

    /// Adds the files that the command reads and changes because of `option`.
    public mutating func update(_ option: String, _ paths: [String]) { add(option, paths, isKept: true) }

    private mutating func add(_ option: String, _ paths: [String], isKept: Bool) {
        for path in paths {
            guard let identity = Self.identity(of: path) else { continue }
            outputs.append(Output(option: option, path: path, identity: identity, isKept: isKept))
        }
    }

    private static func identity(of path: String) -> PathIdentity? { path == "-" ? nil : PathIdentity(path: path) }

    /// Checks that each output has its own files.
    ///
    /// - Throws: `CommandError` with the status `cannotCreate` if an output would replace a file that the command reads,
    ///   or `ValidationError` if two outputs have a file in common.
    public func check() throws {
        if let output = outputs.first(where: { inputs.contains($0.identity) }) { throw Self.error(replacing: output) }
        var owners: [PathIdentity: Output] = [:]
        for output in outputs {
            guard let owner = owners[output.identity] else {
                owners[output.identity] = output
                continue
            }
            guard owner.option != output.option else { continue }
            if owner.isKept || output.isKept { throw Self.error(replacing: owner.isKept ? output : owner) }
            throw ValidationError("\(owner.option) and \(output.option) use the same file: \(output.path)")
        }
    }

    /// Returns the default path of the state file `name`, which is in a folder of the user.
    ///
    /// - Throws: `CommandError` that suggests `option` if the environment does not specify a folder.
    public static func statePath(
        of name: String, _ option: String, environment: [String: String]
    ) throws(CommandError) -> String {
        // The XDG specification declares relative paths invalid and requires that they are ignored.
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/pingferry/\(name)" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw CommandError(
                status: .badConfiguration,
                message: "the path of \(name) is unknown, because neither XDG_STATE_HOME nor HOME is set",
                remedy: "specify its path with \(option)")
        }
        return "\(home)/.local/state/pingferry/\(name)"
    }

    private static func error(replacing output: Output) -> CommandError {
        CommandError(
            status: .cannotCreate, message: "cannot replace \(output.path): it is part of the input",
            remedy: "give the output another name")
    }
}
