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

    /// - Parameter capturePath: The path of the capture that the archive is in, or `nil` if the archive is the capture.
    init(label: String, path: String, in capturePath: String? = nil) {
        self.label = label
        shownPath = capturePath.map { "\($0)/\(path)" } ?? path
        prefix = capturePath == nil ? "" : path + "!"
        rootName = Self.rootName(of: path)
    }

    /// The last part of a path without the suffix of archives.
    static func rootName(of path: String) -> String {
        let name = Path.lastName(of: path)
        return MemberNames.withoutArchiveSuffix(name.utf8) ?? name
    }

    var isNested: Bool { !prefix.isEmpty }
}
