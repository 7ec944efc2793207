import CLibrary
import Capture
import Console
import Files

/// The checks of the location of an output.
enum OutputLocation {
    /// The names of the files that list the contents of an iOS backup.
    private static let manifestNames = ["Manifest.db", "Manifest.mbdb"]

    /// Returns the elements of `outputs` that exist in one of the captures `inputs`, except for bundles, which an earlier
    /// command can have written there.
    ///
    /// Such a file is evidence, even if it belongs to no store. In a backup, no file can be replaced.
    ///
    /// Source: "iOS backups", section 2.3.
    static func filesOfCaptures(among outputs: [String], inputs: [String]) -> [String] {
        let captures = inputs.compactMap { $0 == "-" ? nil : RealPath.of($0) }
        return outputs.filter { output in
            guard output != "-", let path = RealPath.of(output) else { return false }
            return captures.contains { capture in
                isInBackup(path, below: capture) || path.hasPrefix(prefix(of: capture)) && !isBundle(path)
            }
        }
    }

    /// Returns the beginning of the paths of all files in the folder `capture`.
    private static func prefix(of capture: String) -> String { capture == "/" ? capture : "\(capture)/" }

    private static func isBundle(_ path: String) -> Bool {
        guard let file = try? InputFile(path: path), let head = try? InputKind.head(of: ByteSource(file)) else {
            return false
        }
        if case .bundle = InputKind(head: head) { return true }
        return false
    }

    /// Returns whether a folder that contains `path` is a backup, and is the folder `capture` or is inside it.
    private static func isInBackup(_ path: String, below capture: String) -> Bool {
        let prefix = prefix(of: capture)
        var folder = Path.folder(of: path)
        while "\(folder)/".hasPrefix(prefix) {
            if manifestNames.contains(where: { FileIdentity(path: "\(folder)/\($0)") != nil }) { return true }
            guard folder != "/" else { return false }
            folder = Path.folder(of: folder)
        }
        return false
    }

    /// Prints a warning if `output` is inside a capture in `inputs`, because the next run would read the output.
    static func warnIfInsideCapture(_ output: String, inputs: [String], isQuiet: Bool) {
        guard !isQuiet, output != "-", let folder = RealPath.of(Path.folder(of: output)) else { return }
        for input in inputs where input != "-" {
            guard let capture = RealPath.of(input), "\(folder)/".hasPrefix(prefix(of: capture)) else { continue }
            StandardError.write("pingferry: \(output): the output is inside the capture \(input), and changes it")
            StandardError.write("hint: write the output to another folder")
            return
        }
    }
}

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
            status: .cannotCreate, path: path, message: "belongs to another database and would damage the new one",
            remedy: "choose another name, or pass --force to remove the file")
    }

    func remove() throws {
        // A name that is too long for the file system is not the name of an existing file.
        for path in paths where unlink(path) != 0 && ![ENOENT, ENAMETOOLONG].contains(errno) {
            throw FileError(.remove, path)
        }
    }
}
