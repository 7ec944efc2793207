import ArgumentParser
import Bundle
import Capture
import Export
import Files

/// The exit statuses of the contract. Source: design of the project, section 4.
enum ExitStatus: Int32 {
    case incomplete = 1
    case badData = 65
    case noInput = 66
    case cannotCreate = 73
    case inputOutput = 74
    case noPermission = 77
}

/// Why a command gave up: what, where, why, what to do next, and with which status.
struct Failure: Error {
    let status: ExitStatus
    let message: String
    var remedy: String?

    /// Translates what the layers below throw.
    init?(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as FileError: self.init(error)
        case let error as BundleError:
            self.init(status: Self.status(of: error), message: "\(error)", remedy: error.remedy)
        case let error as ChangedCapture: self.init(status: .inputOutput, message: "\(error)")
        case let error as ContainerWriteError: self.init(status: .inputOutput, message: "\(error)")
        case let error as ZstdFailure: self.init(status: .inputOutput, message: "zstd: \(error)")
        default: return nil
        }
    }

    init(status: ExitStatus, message: String, remedy: String? = nil) {
        self.status = status
        self.message = message
        self.remedy = remedy
    }

    /// A file that an input is read from, or an output that was being written.
    init(_ error: FileError) {
        let status: ExitStatus =
            switch error.operation {
            case .create, .lock, .replace: .cannotCreate
            case .write, .sync, .rename, .remove: .inputOutput
            case _ where error.isNotAFile: .badData
            default: error.isNotFound ? .noInput : error.isNoPermission ? .noPermission : .inputOutput
            }
        self.init(status: status, message: "\(error)", remedy: Self.remedy(for: error, status))
    }

    private static func status(of error: BundleError) -> ExitStatus {
        if case .container(let error) = error, case .file(let error) = error.reason { return Failure(error).status }
        return .badData
    }

    private static func remedy(for error: FileError, _ status: ExitStatus) -> String? {
        switch (error.operation, status) {
        case (.create, _) where error.isExisting: "give --force to replace it, or another name"
        case (.create, _) where error.isNotFound: "make the folder first"
        case (.write, _) where error.isNoSpace: "free some space, or write to another disk; the input is untouched"
        default: nil
        }
    }
}

extension AsyncParsableCommand {
    /// Runs the body of a command; says on standard error why it failed, and ends with the status for that.
    func reporting(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            guard let failure = Failure(error) else { throw error }
            StandardError.write("pingferry: \(failure.message)")
            if let remedy = failure.remedy { StandardError.write("pingferry: \(remedy)") }
            throw ExitCode(failure.status.rawValue)
        }
    }
}
