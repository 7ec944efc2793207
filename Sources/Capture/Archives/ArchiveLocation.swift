import Files

/// The location of an archive: the capture itself, or a file in it.
struct ArchiveLocation {
    let label: String
    /// The path that identifies the archive in messages.
    let shownPath: String
    /// The prefix of all member paths, such as `outer.zip!`, or an empty string if the archive is the capture itself.
    let prefix: String
    /// The name of the packed folder, which is the name of the archive without its suffix.
    let rootName: String

    /// Creates the location of an archive in the capture at `capturePath`, or of the capture itself if that is `nil`.
    init(label: String, path: String, in capturePath: String? = nil) {
        self.label = label
        shownPath = capturePath.map { "\($0)/\(path)" } ?? path
        prefix = capturePath == nil ? "" : path + "!"
        rootName = Self.rootName(of: path)
    }

    /// Returns the last component of `path` without the suffix of an archive.
    static func rootName(of path: String) -> String {
        let name = Path.lastName(of: path)
        return MemberNames.withoutArchiveSuffix(name.utf8) ?? name
    }

    var isNested: Bool { !prefix.isEmpty }
}
