import ArgumentParser
import Bytes
import Files
import Glibc

extension AsyncParsableCommand {
    /// Runs the command that the words of the command line name, and ends the program. Help and usage errors, which
    /// repeat these words, go the way of all other text to a terminal.
    public static func runAndExit(as name: String) async -> Never {
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            try refuseUnknownCommand(words)
            var command = try await command(of: words)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            tell(error, as: name)
            Glibc.exit(exitCode(for: error).rawValue)
        }
        Glibc.exit(EXIT_SUCCESS)
    }

    /// Refuses a first word that is meant to name a command and names none, with the names that come near. Where a command
    /// is meant without being named, such a word names a file, unless there is none of that name and a command comes near. The
    /// word after `help` always names a command.
    private static func refuseUnknownCommand(_ words: [String]) throws {
        let isHelp = words.first == "help"
        guard let word = isHelp ? words.dropFirst().first : words.first, !word.hasPrefix("-") else { return }
        let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        guard !names.contains(word) else { return }
        let near = SimilarWords.near(word, among: names)
        if !isHelp, configuration.defaultSubcommand != nil, near.isEmpty || access(word, F_OK) == 0 { return }
        let hint =
            near.isEmpty
            ? "The commands are \(names.joined(separator: ", "))." : "Did you mean \(near.joined(separator: " or "))?"
        throw ValidationError("\(word.printable) is no command. \(hint)")
    }

    /// The command that the words name. What is said of words that name none shows on one line what cannot be seen in
    /// them: therefore these are read once more, as they will be shown.
    private static func command(of words: [String]) async throws -> any ParsableCommand {
        do {
            return try await asyncParseAsRoot(words)
        } catch {
            let shown = words.map(\.printable)
            if shown != words { _ = try await asyncParseAsRoot(shown) }
            throw error
        }
    }

    private static func tell(_ error: any Error, as name: String) {
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
