import ArgumentParser
import Bytes
import Files
import Glibc

extension AsyncParsableCommand {
    /// Runs the command that the command line specifies, and ends the program.
    ///
    /// Help and usage errors can repeat arguments. They are therefore printed like other text, with unprintable
    /// characters escaped.
    ///
    /// - Parameter name: The name of the program, for messages.
    public static func runAndExit(as name: String) async -> Never {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
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
    ///
    /// In a program with a default subcommand, the first argument can also be a file. It is treated as a misspelled
    /// command only if no file has that name and a command has a similar name. The argument after `help` is always a
    /// command.
    private static func rejectUnknownCommand(_ arguments: [String]) throws {
        let isHelp = arguments.first == "help"
        guard let word = isHelp ? arguments.dropFirst().first : arguments.first, !word.hasPrefix("-") else { return }
        let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        guard !names.contains(word) else { return }
        let similar = SimilarWords.matches(for: word, among: names)
        if !isHelp, configuration.defaultSubcommand != nil, similar.isEmpty || access(word, F_OK) == 0 { return }
        let hint =
            similar.isEmpty
            ? "The commands are \(names.joined(separator: ", "))."
            : "Did you mean \(similar.joined(separator: " or "))?"
        throw ValidationError("\(word.printable) is not a command. \(hint)")
    }

    /// Parses `arguments`.
    ///
    /// A usage error can repeat an argument. If an argument has unprintable characters, the escaped arguments are
    /// parsed instead, so that the message shows them on one line.
    private static func command(for arguments: [String]) async throws -> any ParsableCommand {
        do {
            return try await asyncParseAsRoot(arguments)
        } catch {
            let printable = arguments.map(\.printable)
            if printable != arguments { _ = try await asyncParseAsRoot(printable) }
            throw error
        }
    }

    private static func report(_ error: any Error, as name: String) {
        let message = fullMessage(for: error)
        guard !message.isEmpty else { return }
        guard exitCode(for: error).isSuccess else { return StandardError.write(lines: message) }
        do {
            try Terminal.print(lines: message)
        } catch {
            let failure = CommandError(error)
            failure.report(as: name)
            Glibc.exit(failure.status.rawValue)
        }
    }
}
