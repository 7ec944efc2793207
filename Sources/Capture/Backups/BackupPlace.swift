/// A backup that is a capture, or lies in one.
struct BackupPlace {
    /// The label by which problems name the capture.
    let label: String
    /// Its path in the capture; empty if it is the capture, and `outer.zip!` if it is the root of an archive in it.
    let path: String
    /// The path by which messages name it.
    let shownPath: String

    /// The beginning of the paths of what is in it.
    let prefix: String

    /// - Parameter archive: the prefix of the archive that it lies in; empty if it lies in none of the capture's.
    init(label: String, path: String, in capturePath: String, archive: String) {
        self.label = label
        prefix = path.isEmpty || path.utf8.elementsEqual(archive.utf8) ? path : path + "/"
        self.path = path
        shownPath = path.isEmpty ? capturePath : "\(capturePath)/\(path)"
    }
}
