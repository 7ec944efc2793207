import Glibc

/// Why another program cannot be run.
public enum ProgramError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It is in none of the folders where programs are.
    case missing(String)
    /// The operating system refuses to start it, or to let it be waited for; the `errno` code.
    case notStarted(String, code: Int32)

    /// One line without a full stop.
    public var description: String {
        switch self {
        case .missing(let name): "\(name) is not installed: it is in no folder of PATH"
        case .notStarted(let path, let code): "cannot run \(path): \(String(cString: strerror(code)))"
        }
    }
}
