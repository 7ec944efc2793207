import Bundle
import Files
import JSONText

/// The exit statuses, as README.md lists them.
public enum ExitStatus: Int32, Sendable {
    /// Finished, but some input was quarantined or some record refused.
    case incomplete = 1
    /// A bundle or capture is damaged or not one.
    case badData = 65
    /// There is no such input.
    case noInput = 66
    /// A program that is needed is not there, or no server could be reached.
    case unavailable = 69
    /// An output cannot be made.
    case cannotCreate = 73
    /// Reading or writing failed.
    case inputOutput = 74
    /// Something is left for later, or another job is at work.
    case tryLater = 75
    /// The user may not do this.
    case noPermission = 77
    /// The configuration or a credential is wrong.
    case badConfiguration = 78
}

/// Why a command gave up: what, where, why, what to do next, and with which status.
public struct CommandError: Error {
    /// What the command ends with.
    public let status: ExitStatus
    /// What went wrong.
    public let message: String
    /// What to do next.
    public var remedy: String?

    /// Makes a failure.
    public init(status: ExitStatus, message: String, remedy: String? = nil) {
        self.status = status
        self.message = message
        self.remedy = remedy
    }

    /// A file that an input is read from, or an output that was being written.
    public init(_ error: FileError) {
        let status: ExitStatus =
            switch error.operation {
            case _ where error.isExhaustion: .inputOutput
            case .create, .lock, .replace: .cannotCreate
            case .write, .sync, .rename, .remove, .spool: .inputOutput
            case _ where error.isNotAFile || error.isChanged: .badData
            default: error.isNotFound ? .noInput : error.isNoPermission ? .noPermission : .inputOutput
            }
        self.init(status: status, message: "\(error)", remedy: Self.remedy(for: error, status))
    }

    /// A bundle.
    public init(_ error: BundleError) {
        self.init(status: Self.status(of: error), message: "\(error)", remedy: error.remedy)
    }

    /// A bundle, by its name.
    public init(_ error: BundleError, in path: String) {
        self.init(error)
        // What the operating system refused names the file already.
        if case .container(let error) = error, case .file = error.reason { return }
        if case .signature(.file) = error { return }
        self.init(status: status, message: "\(path): \(message)", remedy: remedy)
    }

    /// Writes the failure to standard error, as a message of `program`.
    public func report(as program: String) {
        switch StandardError.currentForm {
        case .text:
            StandardError.write("\(program): \(message)")
            if let remedy { StandardError.write("hint: \(remedy)") }
        case .json:
            var object = CanonicalObject()
            object.set("message", string: message)
            object.set("remedy", string: remedy)
            object.set("status", integer: Int(status.rawValue))
            StandardError.write(json: object.bytes)
        }
    }

    private static func status(of error: BundleError) -> ExitStatus {
        if case .container(let error) = error, case .file(let error) = error.reason { return Self(error).status }
        if case .container(let error) = error, error.reason == .outOfMemory { return .inputOutput }
        switch error {
        case .signature(let error): return Self.status(of: error)
        case .volumes(let error) where error.isMissing: return .noInput
        default: return .badData
        }
    }

    private static func status(of error: SignatureError) -> ExitStatus {
        switch error {
        case .missing, .notASignature, .unknownSigner, .refused: .badData
        case .program(.missing): .unavailable
        case .program(.notStarted): .inputOutput
        case .file(let error): Self(error).status
        }
    }

    private static func remedy(for error: FileError, _ status: ExitStatus) -> String? {
        switch (error.operation, status) {
        case _ where error.isExhaustion: "allow more open files (ulimit -n) or more address space (ulimit -v)"
        case (.create, _) where error.isExisting: "give --force to replace it, or another name"
        case (.create, _) where error.isNotFound: "make the folder first"
        case (.spool, _) where error.isOverSpoolLimit:
            "give a larger --spool-limit, or unpack the archive and give the folder"
        case (.spool, _): "set TMPDIR to a folder on a disk with enough room"
        case (.write, _) where error.isNoSpace: "free some space, or write to another disk; the input is untouched"
        default: nil
        }
    }
}
