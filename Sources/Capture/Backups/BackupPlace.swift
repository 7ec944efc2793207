/// A backup that is a capture, or lies in one.
struct BackupPlace {
    /// The label by which problems name the capture.
    let label: String
    /// Its path in the capture; empty if it is the capture, and `outer.zip!` if it is the root of an archive in it.
    let path: String
    /// The path by which messages name it.
    let shownPath: String

    init(label: String, path: String, in capturePath: String) {
        self.label = label
        self.path = path
        shownPath = path.isEmpty ? capturePath : "\(capturePath)/\(path)"
    }

    /// The beginning of the paths of what is in it.
    var prefix: String { path.isEmpty || path.hasSuffix("!") ? path : path + "/" }
}
