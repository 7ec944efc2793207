import Glibc

/// An error in running another program.
public enum ProgramError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No folder of `PATH` contains a program with this name.
    case missing(String)
    /// Starting the program at this path, writing to it or waiting for it failed with this `errno` code.
    case notStarted(String, code: Int32)

    /// The error as one line without a full stop.
    public var description: String {
        switch self {
        case .missing(let name): "\(name) is not installed: no folder of PATH contains it"
        case .notStarted(let path, let code): "cannot run \(path): \(String(cString: strerror(code)))"
        }
    }
}
