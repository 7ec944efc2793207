import Files

/// An archive that is a capture, or lies in one.
struct ArchivePlace {
    /// The label by which problems name the capture.
    let label: String
    /// The path by which messages name the archive.
    let shownPath: String
    /// The beginning of the paths of its members: nothing, or `outer.zip!`.
    let prefix: String
    /// The name of the folder that was packed, as far as the archive's own name tells it.
    let rootName: String

    /// An archive that is the capture.
    init(label: String, path: String) {
        self.init(label: label, shownPath: path, prefix: "", rootName: Self.rootName(of: path))
    }

    /// An archive at a path in the capture.
    init(label: String, path: String, in capturePath: String) {
        self.init(
            label: label, shownPath: "\(capturePath)/\(path)", prefix: path + "!", rootName: Self.rootName(of: path))
    }

    private init(label: String, shownPath: String, prefix: String, rootName: String) {
        self.label = label
        self.shownPath = shownPath
        self.prefix = prefix
        self.rootName = rootName
    }

    /// The last part of a path without the suffix of archives.
    static func rootName(of path: String) -> String {
        let name = Path.lastName(of: path)
        return MemberNames.withoutArchiveSuffix(name.utf8) ?? name
    }

    var isNested: Bool { !prefix.isEmpty }
}
