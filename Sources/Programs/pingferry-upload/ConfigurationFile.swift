import ArgumentParser
import Bytes
import Console
import Files

/// The options in the file that `--config` names, one on each line: `name`, or `name = value`.
///
/// Empty lines, and lines that begin with `#`, are ignored. Options on the command line take precedence, except for
/// `--ledger`, which can be given only once.
struct ConfigurationFile {
    /// An option of the file.
    struct Option {
        let name: String
        /// The value, or `nil` if the option is a flag.
        let value: String?
        /// The number of the line.
        let line: Int

        /// The option as an argument, with the value of a secret replaced by an ellipsis.
        var printableArgument: String {
            ["ping-url", "proxy"].contains(name) && value != nil ? "--\(name)=…" : argument
        }

        /// The option as an argument, such as `--timezone=Europe/Berlin`.
        var argument: String { "--\(name)\(value.map { "=\($0)" } ?? "")" }
    }

    /// The options in the order of the lines.
    let options: [Option]

    /// The name of the option that names the file.
    private static let optionName = "--config"
    /// The options that commands other than `send` use.
    private static let commonNames = ["ledger", "timezone"]
    /// The maximum size of a file, in bytes.
    private static let sizeLimit = 64 << 10

    /// Reads a file, whose options must be options of `send`.
    init(path: String) throws(CommandError) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try InputFile(path: path).contents(limit: Self.sizeLimit)
        } catch {
            throw CommandError(error)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError(status: .badConfiguration, path: path, message: "not UTF-8")
        }
        let known = Self.optionsOfSend
        var options: [Option] = []
        // A carriage return and a line feed are one character.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let parts = line.split(separator: "=", maxSplits: 1).map(Self.trimmed)
            guard let name = parts.first, !name.isEmpty, !name.hasPrefix("#") else { continue }
            guard known.contains("--\(name)"), name != "config" else {
                throw CommandError(
                    status: .badConfiguration, message: "\(path), line \(index + 1): send has no option --\(name)",
                    remedy: "write one option on each line, without dashes: name, or name = value")
            }
            options.append(Option(name: name, value: parts.count > 1 ? parts[1] : nil, line: index + 1))
        }
        self.options = options
    }

    /// All long options that the help of `send` names.
    private static var optionsOfSend: Set<CapturedText> {
        let words = SendCommand.helpMessage(columns: 1000).split { $0 == " " || $0 == "\n" || $0 == "," }
        return Set(words.filter { $0.hasPrefix("--") }.map { CapturedText($0) })
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let start = text.drop(while: isBlank)
        return String(start.reversed().drop(while: isBlank).reversed())
    }

    /// Returns `arguments` followed by the options of the file that they name, except for options that they contain.
    ///
    /// If no command is given, the result begins with `send`.
    static func expandingArguments(_ arguments: [String]) throws(CommandError) -> [String] {
        let given = arguments.prefix { $0 != "--" }
        guard let path = path(in: given) else { return arguments }
        let commands = PingferryUpload.configuration.subcommands.compactMap { $0.configuration.commandName }
        let command = given.first.flatMap { commands.contains($0) ? $0 : nil } ?? "send"
        let names = Set(texts: given.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) })
        let options = try ConfigurationFile(path: path).options.filter { option in
            // A second ledger is an error, because it can be the name of a file to which a shell expanded a pattern.
            let isReplaced = names.contains("--\(option.name)") && option.name != "ledger"
            let isUnused = names.contains("--dry-run") && SendCommand.namesUnusedByDryRun.contains(option.name)
            return !isReplaced && !isUnused && (command == "send" || commonNames.contains(option.name))
        }
        let all =
            (given.first == command ? [] : [command]) + given + options.map(\.argument)
            + arguments.dropFirst(given.count)
        try requireValidValues(options, of: path, command, in: all)
        return all
    }

    /// Throws an error if `arguments` are invalid because of the value of an option in the file at `path`.
    ///
    /// The message of an option that is invalid alone is the message of all arguments, too. A message that appears without
    /// the option has another cause.
    private static func requireValidValues(
        _ options: [Option], of path: String, _ command: String, in arguments: [String]
    ) throws(CommandError) {
        guard let message = usageError(arguments), message != usageError([command, "bundle"]),
            let option = options.first(where: { usageError([command, $0.argument, "bundle"]) == message })
        else { return }
        throw CommandError(status: .badConfiguration, message: "\(path), line \(option.line): \(message)")
    }

    /// Returns the message about invalid arguments, or `nil` if they are valid or ask for help.
    private static func usageError(_ arguments: [String]) -> String? {
        do {
            _ = try PingferryUpload.parseAsRoot(arguments)
            return nil
        } catch {
            return PingferryUpload.exitCode(for: error).isSuccess ? nil : PingferryUpload.message(for: error)
        }
    }

    private static func path(in arguments: ArraySlice<String>) -> String? {
        guard let index = arguments.firstIndex(where: { $0 == optionName || $0.hasPrefix("\(optionName)=") }) else {
            return nil
        }
        if arguments[index] != optionName { return String(arguments[index].dropFirst(optionName.utf8.count + 1)) }
        return arguments.indices.contains(index + 1) ? arguments[index + 1] : nil
    }
}
