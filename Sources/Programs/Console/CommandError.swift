import Bundle
import CLibrary
import Files
import JSONText

/// The exit statuses of both programs, except for success and usage errors.
public enum ExitStatus: Int32, Sendable {
    /// The command finished, but some input was quarantined or unreadable, or some record is refused or held.
    case incomplete = 1
    /// An input is damaged, or it is neither a capture nor a bundle.
    case badData = 65
    /// An input or an entry of the ledger does not exist.
    case noInput = 66
    /// A required program is not installed, or no server could be reached.
    case unavailable = 69
    /// An output cannot be created.
    case cannotCreate = 73
    /// Reading or writing failed.
    case inputOutput = 74
    /// Some work was deferred, or another job is running.
    case tryLater = 75
    /// Access to a file was denied, or a file that contains a secret is accessible to other users.
    case noPermission = 77
    /// The configuration or a credential is missing or invalid.
    case badConfiguration = 78
}

/// An error that ends a command, with a message and an exit status.
public struct CommandError: Error {
    /// The exit status of the command.
    public let status: ExitStatus
    /// A description of the error, which begins with the path of the affected file if there is one.
    public let message: String
    /// The path of the affected file, or `nil` if there is none or its path is unknown.
    public var path: String?
    /// A suggestion of what to do next, or `nil` if the error has no known remedy.
    public var remedy: String?

    /// Creates an error that ends a command with the exit status `status`.
    public init(status: ExitStatus, message: String, remedy: String? = nil) {
        self.status = status
        self.message = message
        self.remedy = remedy
    }

    /// Creates an error for the file at `path`, with a message that begins with `path`.
    public init(status: ExitStatus, path: String, message: String, remedy: String? = nil) {
        self.init(status: status, message: "\(path): \(message)", remedy: remedy)
        self.path = path
    }

    /// Creates an error for a file that could not be read or written.
    public init(_ error: FileError) {
        let status: ExitStatus =
            switch error.operation {
            case _ where error.isResourceExhaustion: .inputOutput
            case .create, .lock, .replace: .cannotCreate
            case .write, .sync, .rename, .remove, .spool: .inputOutput
            case _ where error.isNotAFile || error.isChanged: .badData
            default: error.isNotFound ? .noInput : error.isPermissionDenied ? .noPermission : .inputOutput
            }
        self.init(status: status, message: "\(error)", remedy: Self.remedy(for: error, status))
        path = error.path
    }

    /// Creates an error for an invalid bundle.
    public init(_ error: BundleError) {
        self.init(status: Self.status(of: error), message: "\(error)", remedy: error.remedy)
    }

    /// Creates an error for the invalid bundle at `path`, with a message that begins with `path`.
    public init(_ error: BundleError, in path: String) {
        self.init(error)
        self.path = path
        // The message of a failed system call already contains the path.
        if case .container(let error) = error, case .file = error.reason { return }
        if case .signature(.file) = error { return }
        self.init(status: status, path: path, message: message, remedy: remedy)
    }

    /// Creates an error for a bundle that changed while it was read.
    public init(changedBundle bundle: String) {
        self.init(status: .inputOutput, path: bundle, message: "changed while it was read", remedy: "verify it again")
    }

    /// Writes the error to standard error.
    ///
    /// The first error of a command that fails without another result is also the result for `--json`.
    public func report(as program: String) {
        JSONResult.note(self)
        switch StandardError.currentFormat {
        case .text:
            StandardError.write("\(program): \(message)", .error)
            if let remedy { StandardError.write("hint: \(remedy)", .notice) }
        case .json:
            StandardError.write(json: json.bytes)
        }
    }

    private static func status(of error: BundleError) -> ExitStatus {
        if case .container(let error) = error, case .file(let error) = error.reason { return Self(error).status }
        if case .container(let error) = error, error.reason == .outOfMemory { return .inputOutput }
        switch error {
        case .signature(let error): return Self.status(of: error)
        case _ where error.lacksFiles: return .noInput
        default: return .badData
        }
    }

    private static func status(of error: SignatureError) -> ExitStatus {
        switch error {
        case .missing, .notASignature, .unknownSigner, .rejected: .badData
        case .program(.missing): .unavailable
        case .program(.notStarted): .inputOutput
        case .file(let error): Self(error).status
        }
    }

    private static func remedy(for error: FileError, _ status: ExitStatus) -> String? {
        switch (error.operation, status) {
        case _ where error.isResourceExhaustion:
            "raise the limit of open files (ulimit -n) or of address space (ulimit -v)"
        case (.create, _) where error.alreadyExists: "pass --force to replace it, or choose another name"
        case (.create, _) where error.isNotFound: "create the folder first"
        case (.create, _) where error.code == EISDIR: "name a file in that folder"
        case (.rename, _) where error.code == ENOTSUP: "write to another file system, or pass --force"
        case (.spool, _) where error.isOverSpoolLimit:
            "increase --spool-limit, or unpack the archive and pass the folder"
        case (.spool, _): "set TMPDIR to a folder on a disk with enough free space"
        case (.write, _) where error.isDiskFull: "free some space, or write to another disk; the input is unchanged"
        default: nil
        }
    }
}

extension CommandError {
    /// Reports the error, and ends the program with its status.
    func exit(as program: String) -> Never {
        report(as: program)
        JSONResult.printFailure(status: status.rawValue, message)
        CLibrary.exit(status.rawValue)
    }

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
            error.exit(as: program)
        }
    }
}
