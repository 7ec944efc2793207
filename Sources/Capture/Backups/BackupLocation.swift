/// The location of a backup: the capture itself, or a folder in it.
struct BackupLocation {
    let label: String
    /// The path of the backup in the capture, such as `outer.zip!` for the root of an archive.
    ///
    /// The path is empty if the capture itself is the backup.
    let path: String
    /// The path that identifies the backup in messages.
    let shownPath: String

    let prefix: String

    /// Creates the location of a backup.
    ///
    /// `archive` is the path prefix of the archive that contains the backup. It is empty if there is no archive.
    init(label: String, path: String, in capturePath: String, archive: String) {
        self.label = label
        prefix = path.isEmpty || path.utf8.elementsEqual(archive.utf8) ? path : path + "/"
        self.path = path
        shownPath = path.isEmpty ? capturePath : "\(capturePath)/\(path)"
    }
}
