import Console
import Files
import Glibc

/// Files that SQLite keeps beside a database.
///
/// If they are those of a database that was at the path before, SQLite would apply them to the new one and damage it.
struct DatabaseCompanions {
    private let paths: [String]

    init(of database: String) { paths = ["-journal", "-wal", "-shm"].map { database + $0 } }

    /// Throws `CommandError` if there is such a file.
    func requireAbsence() throws {
        guard let path = paths.first(where: { FileIdentity(path: $0) != nil }) else { return }
        throw CommandError(
            status: .cannotCreate, message: "\(path): belongs to another database, and would damage the new one",
            remedy: "give another name, or --force to remove it")
    }

    /// Removes them.
    ///
    /// - Throws: `FileError`.
    func remove() throws {
        // A name that is too long for the file system has no file.
        for path in paths where unlink(path) != 0 && ![ENOENT, ENAMETOOLONG].contains(errno) {
            throw FileError(.remove, path)
        }
    }
}
