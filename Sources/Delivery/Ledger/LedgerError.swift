import Files

/// Who has a ledger open for writing.
public struct LedgerHolder: Sendable, Equatable {
    /// The process.
    public let pid: Int
    /// The machine.
    public let host: String
    /// When it opened the ledger, as RFC 3339.
    public let started: String
}

/// Why a ledger cannot be used.
public enum LedgerError: Error, Sendable, CustomStringConvertible {
    /// Another job has it; nil if that job has not said yet who it is.
    case locked(path: String, by: LedgerHolder?)
    /// The file is damaged; how.
    case damaged(path: String, reason: String)
    /// The file is no ledger.
    case notALedger(path: String)
    /// It is no regular file, but a pipe, a folder or a device.
    case notAFile(path: String)
    /// The file has several names (hard links), and is not known by this one.
    case multipleNames(path: String)
    /// A newer version of the program has changed its form.
    case newerVersion(path: String)
    /// There is none.
    case missing(path: String)
    /// The file was removed or replaced while it was in use.
    case removed(path: String)
    /// The operating system refused something.
    case file(FileError)
    /// SQLite could not read or write.
    case storage(path: String, reason: String, isFull: Bool)

    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .locked(let path, let holder?):
            "\(path): in use by process \(holder.pid) on \(holder.host) since \(holder.started)"
        case .locked(let path, nil): "\(path): in use by another job"
        case .damaged(let path, let reason): "\(path): the ledger is damaged: \(reason)"
        case .notALedger(let path): "\(path): not a ledger of this program"
        case .notAFile(let path): "\(path): not a regular file"
        case .multipleNames(let path):
            "\(path): the ledger has several names (hard links), and is not known by this one"
        case .newerVersion(let path): "\(path): written by a newer version of this program"
        case .missing(let path): "\(path): no ledger there"
        case .removed(let path): "\(path): the ledger was removed or replaced while it was in use"
        case .file(let error): error.description
        case .storage(let path, let reason, _): "\(path): \(reason)"
        }
    }

    /// What the user can do about it, where there is something.
    public var remedy: String? {
        switch self {
        case .locked: "wait for that job to end; nothing was sent"
        case .damaged(let path, _):
            """
            restore it from a backup, or try sqlite3 \(path) .recover; without it, records that were delivered are sent \
            again: only if that is acceptable, move the file away
            """
        case .notALedger, .notAFile: "give the path of a ledger, or of a file that does not exist yet, with --ledger"
        case .multipleNames:
            "give the name that it was first used by, or keep one name alone; symbolic links to it are no trouble"
        case .newerVersion: "use a newer version of this program"
        case .removed:
            """
            restore it from a backup before the next job; without it, the records that this and earlier jobs delivered are sent \
            again
            """
        case .missing: "send makes one where --ledger-must-exist is not given"
        case .file(let error) where error.isNoPermission:
            "run as the user that owns the ledger, or give another place with --ledger"
        case .file: nil
        case .storage(_, _, let isFull):
            isFull ? "free some space; what was in flight is sent again with the same id" : nil
        }
    }
}
