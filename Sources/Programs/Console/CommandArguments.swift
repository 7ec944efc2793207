import Glibc

/// The words of the command line.
public enum CommandArguments {
    /// Ends the program if a word is no UTF-8: Swift would read it as another one, and a path could lead to another file.
    public static func requireUTF8(of name: String) {
        for number in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = CommandLine.unsafeArgv[number], String(validatingCString: word) == nil else { continue }
            StandardError.write("\(name): argument \(number) is not UTF-8: \(String(cString: word))")
            StandardError.write("\(name): rename the file, or give the folder that it lies in")
            exit(EX_USAGE)
        }
    }
}
