import DeviceBackup
import Files

/// Finds files of a backup that are not listed in its manifest, because they indicate damaged rows.
///
/// The old manifest has no checksums, and its rows do not contain file names. If the domain, the path or the mode of a
/// row is damaged, the row matches no file, and its file matches no row. Only both together are reported as damage,
/// because partial backups lack files, and old backups may contain obsolete files.
///
/// Source: "iOS backups", section 4.
struct UnlistedFiles {
    private var files: Set<FileID> = []
    private var listed: Set<FileID> = []
    /// The number of rows that do not match the files: file rows without a file, and other rows with one.
    private var mismatchCount = 0

    init(in folder: borrowing Folder) throws(FileError) {
        let entries = try folder.entries()
        for index in 0..<entries.count {
            if let fileID = FileID(entries.name(index)) { files.insert(fileID) }
        }
    }

    /// Removes the file of `row` from the unlisted files, or counts a mismatch.
    mutating func remove(_ row: ManifestRow) {
        let fileID = FileID(domain: row.domain, path: row.path)
        switch row.details?.kind {
        case .folder, .link:
            if files.contains(fileID) { mismatchCount += 1 }
        case .file, nil:
            if files.remove(fileID) != nil {
                listed.insert(fileID)
            } else if !listed.contains(fileID) {
                mismatchCount += 1
            }
        }
    }

    /// A description of the damage, or `nil` if there is none.
    var fault: String? {
        guard mismatchCount > 0, let first = files.map(\.name).min() else { return nil }
        return """
            rows of Manifest.mbdb are damaged: files that are in no row: \(files.count), such as \(first); rows that fit no \
            file: \(mismatchCount)
            """
    }
}
