import Glibc

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
            StandardError.write("\(name): argument \(number) is not UTF-8: \(String(cString: argument))")
            StandardError.write("hint: rename the file, or pass the folder that contains it")
            exit(EX_USAGE)
        }
    }
}
