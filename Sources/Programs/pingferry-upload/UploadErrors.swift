import ArgumentParser
import Bundle
import Console
import Delivery
import Files

extension CommandError {
    /// Creates a command error from an error of another module, or returns `nil` if the type of `error` is unknown.
    init?(_ error: any Error) {
        switch error {
        case let failure as CommandError: self = failure
        case let error as FileError: self.init(error)
        case let error as BundleError: self.init(error)
        case let failure as UnusableBundleError: self.init(failure)
        case let error as LedgerError: self.init(error)
        case let error as CredentialError: self.init(error)
        case let error as SendError: self.init(status: .inputOutput, message: "\(error)")
        case let error as ProxyError: self.init(status: .badConfiguration, message: "\(error)")
        default: return nil
        }
    }

    init(_ failure: UnusableBundleError) { self.init(failure.error, in: failure.path) }

    /// Creates an error for a finished bundle that cannot be moved.
    init(moving error: FileError) {
        let remedy = error.isOnAnotherFileSystem ? "use a folder on the same file system as the bundles" : nil
        self.init(status: .cannotCreate, message: "\(error)", remedy: remedy)
    }

    /// Creates an error for the finished bundle at `path`, which was not moved because it can no longer be opened.
    init(moving error: BundleError, _ path: String) {
        let failure = CommandError(error, in: path)
        self.init(status: .cannotCreate, message: "not moved: \(failure.message)", remedy: failure.remedy)
    }

    /// Creates an error for a finished bundle that was not moved, because another file at `path` has replaced it.
    init(replacedBundleAt path: String) {
        self.init(
            status: .cannotCreate,
            path: path, message: "not moved, because another file has replaced the bundle that was sent",
            remedy: "the next job sends the new bundle")
    }

    /// Creates an error for a job that failed after it may have sent uploads.
    init(whileSending error: any Error) {
        let failure = CommandError(error)
        let remedy =
            error is UnusableBundleError
            ? "the bundle changed while it was sent; answered uploads are settled; give an intact copy to the next job"
            : failure?.remedy
        // The exit statuses for invalid input are not used, because they imply that nothing was sent.
        self.init(status: .inputOutput, message: failure?.message ?? "\(error)", remedy: remedy)
    }

    private init(_ error: CredentialError) {
        switch error {
        case .file(let error): self.init(error)
        case .accessibleToOthers: self.init(status: .noPermission, message: "\(error)", remedy: error.remedy)
        case .malformed, .invalidVariable:
            self.init(status: .badConfiguration, message: "\(error)", remedy: error.remedy)
        }
    }

    init(_ error: LedgerError) {
        self.init(status: Self.status(of: error), message: "\(error)", remedy: error.remedy)
    }

    private static func status(of error: LedgerError) -> ExitStatus {
        switch error {
        case .locked: .tryLater
        case .damaged, .storage, .removed: .inputOutput
        case .notALedger, .notAFile, .multipleNames, .unsupportedVersion, .older, .damagedCounter: .badConfiguration
        case .missing: .noInput
        case .file(let error) where error.isPermissionDenied: .noPermission
        case .file(let error) where error.operation == .open: .cannotCreate
        case .file(let error): CommandError(error).status
        }
    }
}

extension LedgerError {
    /// Writes the error to standard error.
    func report(as program: String) { CommandError(self).report(as: program) }
}

extension AsyncParsableCommand {
    /// Runs `body`, reports its error on standard error, and throws the exit status of the error.
    func reportingErrors<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as UnusableBundlesError {
            error.bundles.report()
            throw ExitCode((error.bundles.exitStatus ?? .badData).rawValue)
        } catch {
            guard let failure = CommandError(error) else { throw error }
            failure.report(as: PingferryUpload.name)
            throw ExitCode(failure.status.rawValue)
        }
    }
}

extension [UnusableBundleError] {
    func report() {
        for bundle in self { CommandError(bundle).report(as: PingferryUpload.name) }
    }

    /// The exit status of all errors, `badData` if their statuses differ, or `nil` if the array is empty.
    var exitStatus: ExitStatus? {
        let statuses = Set(map { CommandError($0).status })
        return statuses.count > 1 ? .badData : statuses.first
    }
}
