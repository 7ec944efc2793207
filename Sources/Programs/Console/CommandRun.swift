import ArgumentParser
import Bytes
import Files
import Glibc

extension AsyncParsableCommand {
    /// Runs the command that the command line specifies, and ends the program.
    ///
    /// The arguments can differ from those of the process, because options can come from a file.
    public static func runAndExit(as name: String, _ arguments: [String] = CommandArguments.all) async -> Never {
        JSONResult.request(by: arguments)
        do {
            try rejectUnknownCommand(arguments)
            var command = try await command(for: arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            report(error, as: name)
            let status = exitCode(for: error)
            if !status.isSuccess { JSONResult.printFailure(status: status.rawValue, message(for: error)) }
            Glibc.exit(status.rawValue)
        }
        Glibc.exit(EXIT_SUCCESS)
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
            similar.isEmpty
            ? "The commands are \(names.joined(separator: ", "))."
            : "Did you mean \(similar.joined(separator: " or "))?"
        throw ValidationError("\(word.printable) is not a command. \(hint)")
    }

    private static func command(for arguments: [String]) async throws -> any ParsableCommand {
        do {
            return try await asyncParseAsRoot(arguments)
        } catch {
            // The escaped arguments are parsed again, because the message can repeat an unprintable argument.
            let printable = arguments.map(\.printable)
            if printable != arguments { _ = try await asyncParseAsRoot(printable) }
            throw error
        }
    }

    private static func report(_ error: any Error, as name: String) {
        let message = fullMessage(for: error)
        guard !message.isEmpty else { return }
        guard exitCode(for: error).isSuccess else { return StandardError.write(lines: message) }
        CommandError.exitOnFailure(of: name) { () throws(FileError) in try Terminal.print(lines: message) }
    }
}

/// The shells for which a program writes completions.
public enum CompletionTarget: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// A shell.
    case bash, zsh, fish

    /// The help of the commands `completions`.
    public static func discussion(of program: String) -> String {
        """
        Prints a script that a shell reads to complete commands, options and their values when the tab key is pressed. \
        Packages and make install already contain it.
          source <(\(program) completions bash)
          \(program) completions zsh > ~/.zfunc/_\(program)
          \(program) completions fish > ~/.config/fish/completions/\(program).fish
        """
    }

    /// Prints the completions of the program with the command `root`.
    public func printScript(for root: any ParsableCommand.Type) throws(FileError) {
        let shell: CompletionShell =
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        try StandardOutput.write(Array((root.completionScript(for: shell) + "\n").utf8).span)
    }
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
