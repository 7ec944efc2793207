import Bundle
import Files

/// An error of opening, reading or writing a ledger.
public enum LedgerError: Error, Sendable, CustomStringConvertible {
    /// Another job has locked the ledger. The holder is `nil` if it cannot be identified.
    case locked(path: String, by: LedgerHolder?)
    /// The file is damaged. The reason is the message of SQLite.
    case damaged(path: String, reason: String)
    /// The file is not a ledger.
    case notALedger(path: String)
    /// The path is not a regular file, but a pipe, a folder or a device.
    case notAFile(path: String)
    /// The file has several hard links.
    case multipleNames(path: String)
    /// The version of the format is not supported.
    case unsupportedVersion(path: String, version: String)
    /// No ledger exists at the path.
    case missing(path: String)
    /// The ledger is an older copy, or the file that counts its jobs is missing.
    case older(path: String, MissingJobs)
    /// The file that counts the jobs of a ledger is damaged.
    case damagedCounter(path: String)
    /// The file was removed or replaced while it was in use.
    case removed(path: String)
    /// A call to the operating system failed.
    case file(FileError)
    /// SQLite cannot read or write the file.
    case storage(path: String, reason: String, isFull: Bool)

    /// The message, which begins with the path.
    public var description: String {
        switch self {
        case .locked(let path, let holder?):
            "\(path): in use by process \(holder.pid) on \(holder.host) since \(holder.started)"
        case .locked(let path, nil): "\(path): in use by another job"
        case .damaged(let path, let reason): "\(path): the ledger is damaged: \(reason)"
        case .notALedger(let path): "\(path): not a ledger of this program"
        case .notAFile(let path): "\(path): not a regular file"
        case .multipleNames(let path): "\(path): the ledger has several hard links"
        case .unsupportedVersion(let path, let version): "\(path): ledger format version \(version) is not supported"
        case .missing(let path): "\(path): the ledger does not exist"
        case .older(let path, let missing): "\(path): the ledger is older than its last job: \(missing.description)"
        case .damagedCounter(let path): "\(path): not a counter of jobs"
        case .removed(let path): "\(path): the ledger was removed or replaced while it was in use"
        case .file(let error): error.description
        case .storage(let path, let reason, _): "\(path): \(reason)"
        }
    }

    /// A suggestion for how to resolve the error, or `nil` if there is no specific one.
    public var remedy: String? {
        switch self {
        case .locked: "wait until that job ends; nothing was sent"
        case .damaged(let path, _):
            """
            move it away and restore a backup (ledger restore), or try sqlite3 \(path) .recover; without it, all records are sent \
            again, so move the file away only if that is acceptable
            """
        case .notALedger, .notAFile: "use --ledger to give the path of a ledger or of a file that does not exist yet"
        case .multipleNames: "remove the other hard links; symbolic links are allowed"
        case .unsupportedVersion: FormatVersion.remedy
        case .older:
            """
            restore the ledger together with the files beside it, or a newer backup; with --accept-older-ledger, what the \
            missing jobs delivered is sent again
            """
        case .damagedCounter: "if the ledger beside it is complete, remove it and use --accept-older-ledger once"
        case .removed:
            """
            restore it from a backup before the next job; without it, all records that were delivered until now are sent again
            """
        case .missing:
            "use --ledger to give the path of the job's ledger; only send creates one, unless --ledger-must-exist is given"
        case .file(let error) where error.isPermissionDenied:
            """
            run the command as the owner of the ledger, or use --ledger to specify another path; if another user created the \
            file, give it to the owner of its folder: chown --reference=FOLDER FILE
            """
        case .file: nil
        case .storage(_, _, let isFull):
            isFull ? "free some space; uploads in flight are sent again with the same id" : nil
        }
    }
}
