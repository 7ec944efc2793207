import Console
import Files
import Glibc

/// The journal files that SQLite stores beside a database.
///
/// If a journal file of a previous database remains, SQLite applies it to the new database and damages it.
struct DatabaseCompanions {
    /// The paths that journal files of the database have.
    let paths: [String]

    init(of database: String) { paths = ["-journal", "-wal", "-shm"].map { database + $0 } }

    /// The paths of the journal files that exist.
    var existingPaths: [String] { paths.filter { FileIdentity(path: $0) != nil } }

    /// Throws an error if a journal file exists.
    func requireAbsence() throws {
        guard let path = existingPaths.first else { return }
        throw CommandError(
            status: .cannotCreate, message: "\(path): belongs to another database and would damage the new one",
            remedy: "choose another name, or pass --force to remove the file")
    }

    func remove() throws {
        // A name that is too long for the file system is not the name of an existing file.
        for path in paths where unlink(path) != 0 && ![ENOENT, ENAMETOOLONG].contains(errno) {
            throw FileError(.remove, path)
        }
    }
}
