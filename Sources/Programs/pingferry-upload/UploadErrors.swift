import ArgumentParser
import Bundle
import Console
import Delivery
import Files

extension CommandError {
    /// Translates what the layers below throw.
    init?(_ error: any Error) {
        switch error {
        case let failure as CommandError: self = failure
        case let error as FileError: self.init(error)
        case let error as BundleError: self.init(error)
        case let failure as UnusableBundleError: self.init(failure.error, in: failure.path)
        case let error as LedgerError: self.init(error)
        case let error as CredentialError: self.init(error)
        case let error as SendError: self.init(status: .inputOutput, message: "\(error)")
        case let error as ProxyError: self.init(status: .badConfiguration, message: "\(error)")
        default: return nil
        }
    }

    /// What failed after the first upload may have gone. Nothing that is wrong with the input has a status of its own then,
    /// for those say that nothing was sent.
    init(whileSending error: any Error) {
        let failure = CommandError(error)
        let remedy =
            error is UnusableBundleError
            ? "the bundle changed while it was sent; what has its answer is settled: give an intact copy to the next job"
            : failure?.remedy
        self.init(status: .inputOutput, message: failure?.message ?? "\(error)", remedy: remedy)
    }

    private init(_ error: CredentialError) {
        switch error {
        case .file(let error): self.init(error)
        case .tooOpen: self.init(status: .noPermission, message: "\(error)", remedy: error.remedy)
        case .malformed, .badKey: self.init(status: .badConfiguration, message: "\(error)", remedy: error.remedy)
        }
    }

    private init(_ error: LedgerError) {
        self.init(status: Self.status(of: error), message: "\(error)", remedy: error.remedy)
    }

    private static func status(of error: LedgerError) -> ExitStatus {
        switch error {
        case .held: .tryLater
        case .damaged, .storage: .inputOutput
        case .notALedger, .notAFile, .severalNames, .newer: .badConfiguration
        case .missing: .noInput
        case .file(let error) where error.isNoPermission: .noPermission
        case .file(let error) where error.operation == .open: .cannotCreate
        case .file(let error): CommandError(error).status
        }
    }
}

extension AsyncParsableCommand {
    /// Runs the body of a command; says on standard error why it failed, and ends with the status for that.
    func reporting(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            guard let failure = CommandError(error) else { throw error }
            failure.report(as: PingferryUpload.name)
            throw ExitCode(failure.status.rawValue)
        }
    }
}
