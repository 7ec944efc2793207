import Files
import FoundationEssentials
import Glibc
import SQLite

/// The one path by which the file of a ledger is opened, whatever it is called.
///
/// SQLite keeps its log beside the path that it was given. Under another name of the same file (a hard link, a file that is
/// mounted in a second place) it would not find the log, and with it what was delivered. So a ledger notes the path that it is
/// opened by, and by whatever name somebody comes, that path is taken.
///
/// Source: SQLite, "How To Corrupt An SQLite Database File", section 2.4, "Multiple links to the same file".
enum LedgerPath {
    /// How many symbolic links are followed, as Linux has it.
    private static let linkLimit = 40

    /// Follows symbolic links, also those that lead to a file that does not exist yet.
    /// - Throws: ``LedgerError``, such as for a folder that does not exist.
    static func resolved(_ path: String) throws(LedgerError) -> String {
        var next = path
        for _ in 0..<linkLimit {
            let place = Path.withoutTrailingSlashes(next)
            let (folder, name) = (Path.folder(of: place), Path.name(of: place))
            let real: String
            do throws(FileError) {
                real = try RealPath.resolved(folder)
            } catch {
                throw .file(FileError(.open, path, code: error.code))
            }
            let resolved = real == "/" ? "/\(name)" : "\(real)/\(name)"
            // This fails for anything but a link, also if nothing is there yet.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: resolved)
            guard let target else { return resolved }
            next = target.hasPrefix("/") ? target : "\(real)/\(target)"
        }
        throw .file(FileError(.open, path, code: ELOOP))
    }

    /// Returns the path of the folder that a ledger is in. Slashes at the end of `path` are ignored.
    static func folder(of path: String) -> String { Path.folder(of: Path.withoutTrailingSlashes(path)) }

    /// The path by which the ledger is to be opened that stands at a path without symbolic links.
    /// - Parameter path: its path for messages.
    /// - Throws: ``LedgerError``; `multipleNames` where a log may lie under a name that is not known.
    static func openingPath(of resolved: String, _ path: String) throws(LedgerError) -> String {
        var status = stat()
        guard stat(resolved, &status) == 0 else { throw .file(FileError(.open, path)) }
        let recorded: String?
        do throws(LedgerError) {
            recorded = try LedgerFile.translatingErrors(path) { try recordedPath(in: resolved) }
        } catch {
            // With one name there is one log. What is wrong with the file shows when it is opened with that.
            guard status.st_nlink > 1 else { return resolved }
            throw error
        }
        if let recorded, FileIdentity(path: recorded) == FileIdentity(path: resolved) { return recorded }
        guard status.st_nlink == 1 else { throw .multipleNames(path: path) }
        return resolved
    }

    /// Notes the path by which a ledger is opened, in the file itself and not in its log alone.
    static func record(_ place: String, in file: DatabaseFile) throws {
        let isNew = try file.write { db in
            try db.run("CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY CHECK (id = 1), path TEXT NOT NULL)")
            guard try recordedPath(db) != place else { return false }
            try db.run("INSERT OR REPLACE INTO place VALUES (1, ?)", [place])
            return true
        }
        if isNew { try file.withoutTransaction { try $0.checkpoint() } }
    }

    /// The path that is recorded in a file; nil if there is none. The log and the locks are not looked at.
    private static func recordedPath(in path: String) throws -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0 else { return nil }
        return try DatabaseFile(path: LedgerFile.immutableURI(of: path), .reading).read { db in
            try db.hasTable("place") ? recordedPath(db) : nil
        }
    }

    private static func recordedPath(_ db: Database) throws -> String? {
        try db.first("SELECT path FROM place")
    }
}
