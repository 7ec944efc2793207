import ArgumentParser
import Bytes
import CLibrary
import Files

extension AsyncParsableCommand {
    /// Runs the command that the command line specifies, and ends the program.
    ///
    /// The arguments can differ from those of the process, because options can come from a file.
    public static func runAndExit(as name: String, _ arguments: [String] = CommandArguments.all) async -> Never {
        JSONResult.request(by: arguments)
        let arguments = arguments == ["-V"] ? ["--version"] : arguments
        do {
            try rejectUnknownCommand(arguments)
            var command = try await command(for: arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let status as ExitCode {
            // The command has reported its errors.
            end(with: status, "")
        } catch {
            report(error, as: name, arguments)
            end(with: exitCode(for: error), message(for: error))
        }
        end(with: .success, "")
    }

    /// Ends the program.
    ///
    /// If it failed and JSON is requested, prints the failure, unless the command has printed a result.
    private static func end(with status: ExitCode, _ message: @autoclosure () -> String) -> Never {
        if !status.isSuccess { JSONResult.printFailure(status: status.rawValue, message()) }
        CLibrary.exit(status.rawValue)
    }

    /// Throws an error that suggests similar commands if `arguments` begins with an unknown command.
    private static func rejectUnknownCommand(_ arguments: [String]) throws {
        let isHelp = arguments.first == "help"
        guard let word = isHelp ? arguments.dropFirst().first : arguments.first, !word.hasPrefix("-") else { return }
        let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        guard !names.contains(word) else { return }
        let similar = SimilarWords.matches(for: word, among: names)
        // If there is a default command, `word` is reported only if it resembles a command and no such file exists.
        if !isHelp, configuration.defaultSubcommand != nil, similar.isEmpty || access(word, F_OK) == 0 { return }
        let hint =
            word == "version"
            ? "Did you mean --version?"
            : similar.isEmpty
                ? "The commands are \(names.joined(separator: ", "))."
                : "Did you mean \(similar.joined(separator: " or "))?"
        throw ValidationError("\(word.printable) is not a command. \(hint)")
    }

    private static func command(for arguments: [String]) async throws -> any ParsableCommand {
        if let command = try? await selectedCommand(by: arguments) { return command }
        do {
            return try await asyncParseAsRoot(arguments)
        } catch {
            // The escaped arguments are parsed again, because the message can repeat an unprintable argument.
            let printable = arguments.map(\.printable)
            if printable != arguments { _ = try await asyncParseAsRoot(printable) }
            throw await unknownOptionError(behind: error, printable) ?? error
        }
    }

    /// Returns the command that the first argument names, or else the default command, or `nil` if there is neither.
    ///
    /// The root would list all options of the command several times, and a debug build validates each list. The root is
    /// used for errors and help, because these contain the name of the program, and for shells, whose requests begin with
    /// three hyphens.
    private static func selectedCommand(by arguments: [String]) async throws -> (any AsyncParsableCommand)? {
        guard let word = arguments.first, word != "help", !word.hasPrefix("---") else { return nil }
        let named = subcommand(named: word)
        let selected = named ?? configuration.defaultSubcommand
        guard let type = selected as? any AsyncParsableCommand.Type else { return nil }
        let options = named == nil ? arguments : Array(arguments.dropFirst())
        return try await type.asyncParseAsRoot(options) as? any AsyncParsableCommand
    }

    private static func subcommand(named word: String?) -> (any ParsableCommand.Type)? {
        configuration.subcommands.first { $0.configuration.commandName == word }
    }

    /// Returns the error for an unknown option if `error` reports a missing argument, or `nil` if there is no such option.
    ///
    /// A misspelled option is the reason why its argument is missing.
    private static func unknownOptionError(behind error: any Error, _ arguments: [String]) async -> (any Error)? {
        var (error, arguments) = (error, arguments)
        // No command requires more arguments.
        for _ in 0..<3 {
            let text = message(for: error)
            if text.hasPrefix("Unknown option") { return error }
            guard text.hasPrefix("Missing expected argument '"), let name = text.split(separator: "'").dropFirst().first
            else { return nil }
            // An option is written before the other arguments, because `--` could precede them.
            if name.hasPrefix("--") {
                arguments.insert(contentsOf: [String(name.prefix { $0 != " " }), "x"], at: min(1, arguments.count))
            } else {
                arguments.append("x")
            }
            do {
                _ = try await asyncParseAsRoot(arguments)
                return nil
            } catch let next {
                error = next
            }
        }
        return nil
    }

    private static func report(_ error: any Error, as name: String, _ arguments: [String]) {
        let message = fullMessage(for: error)
        guard !message.isEmpty else { return }
        let options = arguments.prefix { $0 != "--" }
        guard exitCode(for: error).isSuccess else {
            let prefix = "Error: "
            StandardError.write(
                lines: message.hasPrefix(prefix) ? "\(name): \(message.dropFirst(prefix.count))" : message)
            if let hint = hyphenHint(for: options) { StandardError.write("hint: \(hint)") }
            return
        }
        let isShort = options.contains("-h") && !options.contains("--help") && options.first != "help"
        let text = isShort ? ShortHelp.text(of: message) : message
        CommandError.exitOnFailure(of: name) { () throws(FileError) in try Terminal.print(lines: text) }
    }

    /// Returns a hint if a long option was written with one hyphen, or `nil` if none was.
    private static func hyphenHint(for options: ArraySlice<String>) -> String? {
        let command = subcommand(named: options.first) ?? Self.self
        let help = command.helpMessage(includeHidden: true)
        let word = options.first { option in
            option.count > 2 && option.hasPrefix("-") && !option.hasPrefix("--") && help.contains(" -\(option)")
        }
        return word.map { "did you mean -\($0)? options of several letters begin with two hyphens" }
    }
}

/// The help that `-h` prints, which fits on a screen.
enum ShortHelp {
    /// The column at which `--help` begins the descriptions of options.
    private static let column = 26
    private static let width = 80

    /// Returns the complete help without the discussion, and with one line for each option.
    static func text(of help: String) -> String {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let usage = lines.firstIndex(where: { $0.hasPrefix("USAGE: ") }) else { return help }
        var short = Array(lines[..<usage].prefix { !$0.isEmpty }) + [""]
        var entry: [String] = []
        func endEntry() {
            if let line = Self.line(of: entry) { short.append(line) }
            entry = []
        }
        for line in lines[usage...] {
            if line.hasPrefix("  ") && (!entry.isEmpty || !line.hasPrefix("   ")) {
                if !line.hasPrefix("   ") { endEntry() }
                entry.append(line)
            } else {
                endEntry()
                if !line.isEmpty || short.last?.isEmpty == false { short.append(line) }
            }
        }
        endEntry()
        while short.last?.isEmpty == true { short.removeLast() }
        return (short + ["", "--help describes each option, and has examples."]).joined(separator: "\n")
    }

    /// Returns the line of an option, whose description is cut after its first sentence or at the end of the line.
    private static func line(of entry: [String]) -> String? {
        guard let first = entry.first.map(Array.init) else { return nil }
        // A long name has a line of its own.
        let isDescribed = first.count > column && first[column - 1] == " "
        let name = String(isDescribed ? first[..<column] : first[...]).split(separator: " ").joined(separator: " ")
        let rest = (isDescribed ? [String(first[column...])] : []) + entry.dropFirst()
        var words = rest.joined(separator: " ").split(separator: " ")
        if let end = words.firstIndex(where: { $0.hasSuffix(".") }) { words.removeSubrange((end + 1)...) }
        let start = "  " + name + String(repeating: " ", count: max(2, column - 2 - name.count))
        var line = start
        for (index, word) in words.enumerated() {
            let space = index == 0 ? "" : " "
            guard line.count + space.count + word.count <= width - 4 else { return line + " ..." }
            line += space + word
        }
        return words.isEmpty ? "  " + name : line
    }
}

/// The command `completions` of the program whose first command is `Root`, which prints a script for a shell.
public struct CompletionsCommand<Root: ParsableCommand>: AsyncParsableCommand {
    /// The name and the help of the command.
    public static var configuration: CommandConfiguration {
        let program = Root.configuration.commandName ?? ""
        return CommandConfiguration(
            commandName: "completions", abstract: "Print the completions for a shell.",
            discussion: """
                Prints a script that a shell reads to complete commands, options and their values when the tab key is pressed. \
                Packages and make install already contain it.
                  source <(\(program) completions bash)
                  \(program) completions zsh > ~/.zfunc/_\(program)
                  \(program) completions fish > ~/.config/fish/completions/\(program).fish
                """)
    }

    @Argument(help: "The shell.") private var shell: CompletionTarget

    /// Creates a command without a shell, as the argument parser requires.
    public init() {}

    /// Prints the script, or ends the program with an error message.
    public func run() async throws {
        let shell: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        CommandError.exitOnFailure(of: Root.configuration.commandName ?? "") { () throws(FileError) in
            try StandardOutput.write(Array((Root.completionScript(for: shell) + "\n").utf8).span)
        }
    }
}

/// The shells for which a program writes completions.
private enum CompletionTarget: String, ExpressibleByArgument, CaseIterable, Sendable {
    case bash, zsh, fish
}

/// The arguments of the command line.
public enum CommandArguments {
    /// All arguments after the name of the program.
    public static var all: [String] { Array(CommandLine.arguments.dropFirst()) }

    /// The arguments after the name of the command.
    ///
    /// A command with an option for a secret must not use this property, because receipts contain the arguments.
    public static var afterCommand: [String] { Array(CommandLine.arguments.dropFirst(2)) }

    /// Ends the program with a usage error if an argument is not UTF-8, because Swift would replace the invalid bytes.
    public static func requireUTF8(of name: String) {
        for number in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[number], String(validatingCString: argument) == nil else {
                continue
            }
            let message = "argument \(number) is not UTF-8: \(String(cString: argument))"
            StandardError.write("\(name): \(message)")
            StandardError.write("hint: rename the file, or pass the folder that contains it")
            JSONResult.printFailure(status: EX_USAGE, message)
            exit(EX_USAGE)
        }
    }
}

/// A search for words that a misspelled word may stand for.
public enum SimilarWords {
    /// Returns the elements of `words` that are similar to `word`, the most similar ones first.
    public static func matches(for word: String, among words: [String]) -> [String] {
        words.map { (word: $0, distance: distance(from: Array(word.utf8), to: Array($0.utf8))) }
            .filter { $0.distance <= ($0.word.utf8.count > 4 ? 2 : 1) }
            .sorted { ($0.distance, $0.word) < ($1.distance, $1.word) }
            .map(\.word)
    }

    /// Returns the number of single-byte insertions, deletions, replacements and swaps that turn `first` into `second`.
    ///
    /// Source: Damerau, "A technique for computer detection and correction of spelling errors" (1964).
    private static func distance(from first: [UInt8], to second: [UInt8]) -> Int {
        // The word may be a long file name, but no command is that long.
        guard first.count <= 32 else { return .max }
        var rows = [Array(0...second.count)]
        for (i, byte) in first.enumerated() {
            var row = [i + 1]
            for (j, other) in second.enumerated() {
                var best = min(rows[i][j] + (byte == other ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, byte == second[j - 1], first[i - 1] == other {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }
}
