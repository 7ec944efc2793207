/// The location of a backup: the capture itself, or a folder in it.
struct BackupLocation {
    /// The label of the capture in problem reports.
    let label: String
    /// The path in the capture: empty for the capture itself, `outer.zip!` for the root of an archive.
    let path: String
    /// The path of the backup in messages.
    let shownPath: String

    /// The prefix of the paths in the backup.
    let prefix: String

    /// Creates the location of a backup.
    ///
    /// `archive` is the prefix of the archive that contains it, or an empty string.
    init(label: String, path: String, in capturePath: String, archive: String) {
        self.label = label
        prefix = path.isEmpty || path.utf8.elementsEqual(archive.utf8) ? path : path + "/"
        self.path = path
        shownPath = path.isEmpty ? capturePath : "\(capturePath)/\(path)"
    }
}
