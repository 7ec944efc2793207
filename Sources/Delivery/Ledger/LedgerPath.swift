import Files
import FoundationEssentials
import Glibc
import SQLite

/// The canonical path by which the file of a ledger is opened.
///
/// SQLite names its log after the path of the database. If the same file is opened by another name, such as a hard link
/// or a second mount point, SQLite does not find the log, and its transactions are lost. The ledger therefore stores
/// the path by which it was first opened, and is always opened by that path.
///
/// Source: SQLite, "How To Corrupt An SQLite Database File", section 2.4, "Multiple links to the same file".
enum LedgerPath {
    /// The maximum number of symbolic links that are followed, as in Linux.
    private static let maximumLinkCount = 40

    /// Returns `path` with its symbolic links resolved, even if the file does not exist.
    static func resolved(_ path: String) throws(LedgerError) -> String {
        var next = path
        for _ in 0..<maximumLinkCount {
            let linkPath = Path.withoutTrailingSlashes(next)
            let (folder, name) = (Path.folder(of: linkPath), Path.name(of: linkPath))
            let real: String
            do throws(FileError) {
                real = try RealPath.resolved(folder)
            } catch {
                throw .file(FileError(.open, path, code: error.code))
            }
            let resolved = real == "/" ? "/\(name)" : "\(real)/\(name)"
            // This call fails if the file is not a symbolic link or does not exist.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: resolved)
            guard let target else { return resolved }
            next = target.hasPrefix("/") ? target : "\(real)/\(target)"
        }
        throw .file(FileError(.open, path, code: ELOOP))
    }

    /// Returns the path of the folder that contains a ledger, ignoring slashes at the end of `path`.
    static func folder(of path: String) -> String { Path.folder(of: Path.withoutTrailingSlashes(path)) }

    /// Returns the path by which the ledger at `path` must be opened.
    ///
    /// Symbolic links are resolved. If the file was first opened by another name, the result is that name.
    static func openingPath(of path: String) throws(LedgerError) -> String {
        let resolved = try resolved(path)
        var status = stat()
        guard stat(resolved, &status) == 0 else { throw .file(FileError(.open, path)) }
        let stored: String?
        do throws(LedgerError) {
            stored = try LedgerFile.translatingErrors(path) { try storedPath(in: resolved) }
        } catch {
            // A file with only one name has only one log. The error is reported when the file is opened.
            guard status.st_nlink > 1 else { return resolved }
            throw error
        }
        if let stored, FileIdentity(path: stored) == FileIdentity(path: resolved) { return stored }
        guard status.st_nlink == 1 else { throw .multipleNames(path: path) }
        return resolved
    }

    /// Stores `realPath` as the path of the ledger, in the database file itself rather than only in its log.
    static func store(_ realPath: String, in file: DatabaseFile) throws {
        let isNew = try file.write { db in
            try db.run("CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY CHECK (id = 1), path TEXT NOT NULL)")
            guard try storedPath(db) != realPath else { return false }
            try db.run("INSERT OR REPLACE INTO place VALUES (1, ?)", [realPath])
            return true
        }
        if isNew { try file.withoutTransaction { try $0.checkpoint() } }
    }

    /// Returns the path stored in the file at `path`, ignoring its log and its locks, or `nil` if none is stored.
    private static func storedPath(in path: String) throws -> String? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0 else { return nil }
        return try DatabaseFile(path: LedgerFile.immutableURI(of: path), .reading).read { db in
            try db.hasTable("place") ? storedPath(db) : nil
        }
    }

    private static func storedPath(_ db: Database) throws -> String? { try db.first("SELECT path FROM place") }
}
