import Bundle
import Telemetry

/// An error that prevents an input from being used.
public enum InputError: Error, Sendable {
    /// The file is not a bundle, or the bundle is damaged.
    case bundle(BundleError, String)
    /// An archive cannot be read.
    case archive(ArchiveError, String)
    /// A backup cannot be read.
    case backup(BackupError, String)
    /// The file is part of a backup, such as its manifest.
    case partOfBackup(String)
    /// The output would replace a part of the input.
    case wouldReplaceInput(String)
    /// No stores were found in a capture, possibly because of the included problem.
    case noStores(String, LocatedProblem)
    /// A single file is too large to be searched for a store.
    case tooLarge(String)
    /// A record of an input cannot be pseudonymized.
    case pseudonyms(PseudonymError, String)
    /// The input has no supported format.
    case unrecognized(String)

    /// A description of the error, with the path of the input.
    public var message: String {
        switch self {
        case .bundle(let error, let path): "\(path): \(error)"
        case .archive(let error, let path): "\(path): \(error)"
        case .backup(let error, let path): "\(path): \(error)"
        case .partOfBackup(let path): "\(path): B45 the file is part of a backup"
        case .wouldReplaceInput(let path): "cannot replace \(path): it is part of the input"
        case .noStores(let path, let problem):
            "\(path)\(problem.path.isEmpty ? "" : ": \(problem.path)"): \(problem.problem.text)"
        case .tooLarge(let path):
            "\(path): too-large: more than \(StoreLimits.archive >> 20) MiB, and its name is not that of a store"
        case .pseudonyms(let error, let path): "\(path): \(error)"
        case .unrecognized(let path): "\(path): no known store was found"
        }
    }

    /// The suggested next step for the user, or `nil` if there is none.
    public var remedy: String? {
        switch self {
        case .bundle(let error, _): error.remedy
        case .archive(let error, _): error.remedy
        case .backup(let error, _): error.remedy
        case .pseudonyms(let error, _): error.remedy
        case .partOfBackup: "pass the folder of the backup"
        case .wouldReplaceInput: "give the output another name"
        case .noStores: nil
        case .tooLarge: "if it is a property list, pingferry inspect --max-size shows it"
        case .unrecognized: "pass the folder that was pulled from the device, with its Documents and Library folders"
        }
    }
}
