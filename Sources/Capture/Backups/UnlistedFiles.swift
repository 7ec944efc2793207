import DeviceBackup
import Files

/// The files of a backup that no row of an old manifest lists.
///
/// The files are compared with the rows to find damaged rows. The old manifest has no checksums, and its rows do not
/// contain file names. If the domain, the path or the mode of a row is damaged, the row matches no file, and its file
/// matches no row. Damage is reported only if there are both unmatched rows and unmatched files, because partial
/// backups lack files, and old backups may contain obsolete files.
///
/// Source: "iOS backups", section 4.
struct UnlistedFiles {
    private var unlistedIDs: Set<FileID> = []
    private var listedIDs: Set<FileID> = []
    /// The number of rows of files for which no file exists, and of rows of folders or links for which a file exists.
    private var mismatchCount = 0

    init(in folder: borrowing Folder) throws(FileError) {
        let entries = try folder.entries()
        for index in 0..<entries.count {
            if let fileID = FileID(entries.name(index)) { unlistedIDs.insert(fileID) }
        }
    }

    /// Removes the file of `row` from the unlisted files, or counts a mismatch.
    mutating func remove(_ row: ManifestRow) {
        let fileID = FileID(domain: row.domain, path: row.path)
        switch row.details?.kind {
        case .folder, .link:
            if unlistedIDs.contains(fileID) { mismatchCount += 1 }
        case .file, nil:
            if unlistedIDs.remove(fileID) != nil {
                listedIDs.insert(fileID)
            } else if !listedIDs.contains(fileID) {
                mismatchCount += 1
            }
        }
    }

    /// A description of the damage, or `nil` if there is none.
    var damageDescription: String? {
        guard mismatchCount > 0, let first = unlistedIDs.map(\.name).min() else { return nil }
        return """
            rows of Manifest.mbdb are damaged: files without a row: \(unlistedIDs.count), such as \(first); rows that do not \
            match the files: \(mismatchCount)
            """
    }
}
