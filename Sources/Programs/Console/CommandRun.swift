import ArgumentParser
import Bytes
import Files
import Glibc

extension AsyncParsableCommand {
    /// Runs the command that the command line specifies, and ends the program.
    ///
    /// The arguments can differ from those of the process, because options can come from a file.
    public static func runAndExit(as name: String, _ arguments: [String] = CommandArguments.all) async -> Never {
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
            Glibc.exit(exitCode(for: error).rawValue)
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

extension CommandError {
    /// Calls `write`, and ends the program with an error message if `write` throws an error.
    static func exitOnFailure(of program: String, _ write: () throws(FileError) -> Void) {
        exiting(program) { () throws(CommandError) in
            do throws(FileError) { try write() } catch { throw CommandError(error) }
        }
    }

    /// Returns the result of `body`, or ends the program with an error message if `body` throws an error.
    public static func exiting<Value>(_ program: String, _ body: () throws(CommandError) -> Value) -> Value {
        do throws(CommandError) {
            return try body()
        } catch {
            error.report(as: program)
            Glibc.exit(error.status.rawValue)
        }
    }
}
