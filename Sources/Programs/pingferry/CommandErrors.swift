import ArgumentParser
import Bundle
import Capture
import Console
import Export
import Files

extension CommandError {
    /// Creates a command error from an error of another module, or returns `nil` if the type of `error` is unknown.
    init?(_ error: any Error) {
        switch error {
        case let failure as CommandError: self = failure
        case let error as FileError: self.init(error)
        case let error as InputError: self.init(error)
        case let error as BundleError: self.init(error)
        case let error as ContainerWriteError: self.init(status: .inputOutput, message: "\(error)")
        case let error as ParentError: self.init(error)
        case let error as ParityError: self.init(error)
        case let error as LiveTableError:
            self.init(status: error.isMissing ? .noInput : .badData, message: "\(error)", remedy: error.remedy)
        case let error as ZstdError: self.init(status: .inputOutput, message: "zstd: \(error)")
        default: return nil
        }
    }

    /// Writes the error to standard error, and returns its exit status.
    func report() -> ExitCode {
        report(as: "pingferry")
        return ExitCode(status.rawValue)
    }

    /// Creates an error for earlier bundles that cannot be continued.
    init(_ error: ParentError) {
        switch error {
        case .unknown(let digest, let bundle):
            self.init(
                status: .badData,
                message: "\(bundle): it continues the bundle with the digest \(digest), which is not given",
                remedy: "pass that bundle with --since-bundle, or the index of a later one with --since-index")
        case .cycle(let digest):
            self.init(
                status: .badData,
                message: "the index of the bundle \(digest) and another one list each other as ancestors",
                remedy: "one of them is forged; pass the bundles themselves with --since-bundle")
        }
    }

    /// Creates an error for `par2`, which failed or is not installed.
    init(_ error: ParityError) {
        let isMissing = error.isMissingProgram
        self.init(
            status: isMissing ? .unavailable : .inputOutput, message: "\(error)",
            remedy: isMissing ? "install par2" : nil)
    }

    /// Creates an error for a fault of a chain.
    init(_ fault: BundleChain.Fault) {
        let remedy =
            switch fault.kind {
            case .missingParent: "pass the bundle with this digest before it"
            case .parentOutOfOrder: "pass the bundles in the order in which they were made"
            case .repeated: "pass each bundle once"
            case .notContinued: "do not use this bundle; the expected digest does not cover it"
            }
        self.init(status: .badData, message: "\(fault)", remedy: remedy)
    }

    /// Creates an error for an input that cannot be used.
    private init(_ error: InputError) {
        switch error {
        case .bundle(let error, let path): self.init(error, in: path)
        case .wouldReplaceInput: self.init(status: .cannotCreate, message: error.message, remedy: error.remedy)
        case .backup(let cause, _) where cause.cause == .password:
            self.init(status: .badConfiguration, message: error.message, remedy: error.remedy)
        case .backup, .partOfBackup, .archive, .noStores, .tooLarge, .pseudonyms, .unread, .unrecognized:
            self.init(status: .badData, message: error.message, remedy: error.remedy)
        }
        path = error.path
    }
}

extension AsyncParsableCommand {
    /// Runs `body`, reports its error on standard error, and throws the exit status of the error.
    func reportingErrors(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            guard let failure = CommandError(error) else { throw error }
            throw failure.report()
        }
    }

    /// Runs `body` for each path, reports errors, and then throws the exit status of the first error.
    ///
    /// If `printsJSON` is `true`, `body` prints a result for each path, and so does each error.
    func reportingErrors(
        for paths: [String], printsJSON: Bool, _ body: (_ path: String, _ isFirst: Bool) throws -> Void
    ) async throws {
        var first: ExitCode?
        for (number, path) in paths.enumerated() {
            do {
                try body(path, number == 0)
            } catch {
                guard let failure = CommandError(error) else { throw error }
                first = first ?? failure.report()
                // If standard output cannot be written, the first failure is the one that matters.
                if printsJSON { try? JSONResult.print(failure) }
            }
        }
        if let first { throw first }
    }
}
