import Glibc

/// An error that occurs when another program is run.
public enum ProgramError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No folder of `PATH` contains a program of this name.
    case missing(String)
    /// The operating system cannot start the program or wait for it.
    ///
    /// `code` is the `errno` code.
    case notStarted(String, code: Int32)

    /// The error as one line without a full stop.
    public var description: String {
        switch self {
        case .missing(let name): "\(name) is not installed: it is in no folder of PATH"
        case .notStarted(let path, let code): "cannot run \(path): \(String(cString: strerror(code)))"
        }
    }
}
