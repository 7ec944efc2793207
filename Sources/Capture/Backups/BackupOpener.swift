import Bytes
import CLibrary
import DeviceBackup
import Files
import Hashing
import Telemetry

/// An opener that unlocks a backup and reads its manifest.
///
/// Source: "iOS backups", sections 3 to 5 and 8.
struct BackupOpener {
    let location: BackupLocation
    let spool: Spool
    let passwords: BackupPasswords
    let listsInventory: Bool

    func open(_ folder: borrowing Folder, storeNames: StoreNames) throws -> OpenedManifest {
        let propertyLists = try BackupPropertyLists(in: folder)
        let unlocker = BackupUnlocker(propertyLists: propertyLists, location: location, passwords: passwords)
        let found = try findManifest(in: folder, propertyLists, unlocker)
        var contents = BackupContents(
            storeNames, nameByteLimit: spool.archiveLimits.totalNameSize,
            inventory: listsInventory ? BackupInventory() : nil)
        var unlisted: UnlistedFiles?
        switch found.rows {
        case .binary: unlisted = try UnlistedFiles(ofBinaryManifestIn: folder)
        case .database(let database) where database.mayLackLog: unlisted = try UnlistedFiles(ofDatabaseIn: folder)
        case .database: break
        }
        var end = try found.rows.forEach { row in
            contents.add(row)
            unlisted?.remove(row)
        }
        if case .complete = end, let fault = unlisted?.damageDescription {
            end = .incomplete(caseID: found.format == .mbdb ? "B44" : "B34", text: fault)
        }
        if contents.hasFolders {
            _ = try found.rows.forEach { row in contents.registerClash(of: row) }
        }
        return OpenedManifest(
            location: location, propertyLists: propertyLists, unlocker: unlocker, format: found.format,
            protection: found.protection, contents: contents, end: end)
    }

    private struct FoundManifest {
        let rows: ManifestRows
        let format: BackupFacts.Format
        let protection: BackupFiles.Protection
    }

    private func findManifest(
        in folder: borrowing Folder, _ propertyLists: BackupPropertyLists, _ unlocker: BackupUnlocker
    ) throws -> FoundManifest {
        guard let main = try source(BackupDetector.databaseName, in: folder) else {
            guard let old = try source(BackupDetector.binaryManifestName, in: folder) else {
                throw BackupError("B33", "the manifest has disappeared")
            }
            let protection: BackupFiles.Protection =
                propertyLists.isEncrypted ? .encrypted(try unlocker.unlock()) : .plain
            return FoundManifest(rows: .binary(old), format: .mbdb, protection: protection)
        }
        let isPlain = ManifestDatabase.isDatabase(try main.bytes(at: 0, count: 16))
        guard !isPlain, propertyLists.isEncrypted else {
            // Without Manifest.plist, an encrypted manifest looks damaged. The error names the cause if there is one.
            if !isPlain { _ = try source(BackupPropertyLists.Name.manifest.rawValue, in: folder) }
            let journal = try source(BackupDetector.databaseName + "-journal", in: folder)
            let log = try source(BackupDetector.databaseName + "-wal", in: folder)
            let database = try ManifestDatabase(main, journal: journal, log: log, spool: spool)
            let protection: BackupFiles.Protection =
                if !propertyLists.isEncrypted {
                    .plain
                } else if propertyLists.manifestKey != nil {
                    .mixed(nil)
                } else {
                    .encrypted(try unlocker.unlock())
                }
            return FoundManifest(rows: .database(database), format: .sqlite, protection: protection)
        }
        let keys = try unlocker.unlock()
        let database = try ManifestDatabase(decryptManifest(main, propertyLists, keys), isDecrypted: true, spool: spool)
        return FoundManifest(rows: .database(database), format: .sqlite, protection: .encrypted(keys))
    }

    /// Decrypts the manifest.
    ///
    /// The padding is kept, because SQLite ignores bytes after the length that the header states.
    private func decryptManifest(
        _ main: ByteSource, _ propertyLists: BackupPropertyLists, _ keys: ClassKeys
    ) throws -> ByteSource {
        guard let stored = propertyLists.manifestKey, let wrapped = WrappedKey(stored) else {
            throw BackupError("B27", "the manifest is encrypted, but its key is missing or does not have 44 bytes")
        }
        let key: CipherKey
        do throws(WrappedKeyError) {
            key = try keys.unwrap(wrapped)
        } catch {
            throw BackupError("B27", "the key of the manifest \(error.words)")
        }
        guard main.count > 0, main.count.isMultiple(of: CipherKey.blockSize) else {
            throw BackupError(
                "B27",
                "the encrypted manifest has \(main.count.counted("byte")), which is not a multiple of the block size")
        }
        return ByteSource(try DecryptedBytes(main, key: key, path: BackupDetector.databaseName))
    }

    /// Returns the bytes of a file in the backup, or `nil` if the file is missing.
    private func source(_ name: String, in folder: borrowing Folder) throws -> ByteSource? {
        do throws(FileError) {
            return try folder.source(Array(name.utf8))
        } catch {
            if error.isNotFound { return nil }
            // Links are not followed. A journal or log that is a link is an error, because the manifest may be wrong
            // without it.
            guard [ELOOP, ENOTSUP, EISDIR].contains(error.code) else { throw error }
            throw BackupError("B33", "\(name) is not a regular file")
        }
    }
}

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

// MARK: - Unlocking

/// An unlocker that tries passwords on the keybag of an encrypted backup.
///
/// Source: "iOS backups", sections 5.2, 5.3 and 9.
struct BackupUnlocker {
    let propertyLists: BackupPropertyLists
    let location: BackupLocation
    let passwords: BackupPasswords

    func unlock() throws(BackupError) -> ClassKeys {
        guard let bytes = propertyLists.keybag else {
            throw BackupError("B24", "the backup is encrypted and has no keybag")
        }
        let bag: Keybag
        do throws(KeybagError) {
            bag = try Keybag(bytes)
        } catch {
            throw BackupError(error.caseID, error.reason)
        }
        let facts = BackupFacts(path: "", format: .sqlite, isEncrypted: true, propertyLists)
        return try passwords.unlock(
            bag, path: location.shownPath, origin: facts.origin.isEmpty ? "" : " (\(facts.origin))")
    }
}

// MARK: - Unlisted files

/// The files of a backup that no row of an old manifest lists.
///
/// The files are compared with the rows to find damaged rows. The old manifest has no checksums, and its rows do not
/// contain file names. If the domain, the path or the mode of a row is damaged, the row matches no file, and its file
/// matches no row. Damage is reported only if there are both unmatched rows and unmatched files, because partial
/// backups lack files, and old backups may contain obsolete files.
///
/// Source: "iOS backups", section 4.
private struct UnlistedFiles {
    private var unlistedIDs: Set<FileID> = []
    private var listedIDs: Set<FileID> = []
    /// The number of rows of files for which no file exists, and of rows of folders or links for which a file exists.
    private var mismatchCount = 0
    private let isDatabase: Bool

    /// Lists the files beside a manifest of iOS 9 or earlier.
    init(ofBinaryManifestIn folder: borrowing Folder) throws(FileError) {
        isDatabase = false
        unlistedIDs = Set(try folder.entries().compactMap { FileID($0.name) })
    }

    /// Lists the files in the subfolders beside a manifest database.
    init(ofDatabaseIn folder: borrowing Folder) throws(FileError) {
        isDatabase = true
        for entry in try folder.entries() where entry.kind == .folder && entry.name.count == 2 {
            // The files of a folder that cannot be read are reported if they are needed.
            let files = (try? folder.folder(at: entry.text).entries()) ?? []
            for file in files where file.kind == .file {
                guard let fileID = FileID(file.name), fileID.folder == entry.text else { continue }
                unlistedIDs.insert(fileID)
            }
        }
    }

    /// Removes the file of `row` from the unlisted files, or counts a mismatch.
    mutating func remove(_ row: ManifestRow) {
        if isDatabase {
            if let fileID = row.fileID.flatMap({ FileID($0) }) { unlistedIDs.remove(fileID) }
            return
        }
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
        guard isDatabase || mismatchCount > 0, let first = unlistedIDs.map(\.name).min() else { return nil }
        guard !isDatabase else {
            return """
                the manifest seems to lack its last changes, because Manifest.db-wal is missing: files without a row: \
                \(unlistedIDs.count), such as \(first); copy Manifest.db-wal, too
                """
        }
        return """
            rows of Manifest.mbdb are damaged: files without a row: \(unlistedIDs.count), such as \(first); rows that do not \
            match the files: \(mismatchCount)
            """
    }
}

// MARK: - Errors

/// An error that prevents a backup from being read.
///
/// Source: "iOS backups", section 10.
public struct BackupError: Error, Sendable, CustomStringConvertible {
    /// The cause of a backup error, which determines what the user can do.
    public enum Cause: Sendable, Equatable {
        /// The password is missing or wrong.
        case password
        /// The next key derivation would exceed the maximum number of rounds for all backups of a command.
        case budget
        /// The backup is damaged or exceeds a limit.
        case damage
    }

    /// The cause of the error.
    public let cause: Cause
    /// The description, which begins with a case ID such as `B19`.
    public let description: String

    init(_ caseID: String, _ text: String, cause: Cause = .damage) {
        self.cause = cause
        description = "\(caseID) \(text)"
    }

    /// The suggested next step for the user.
    public var remedy: String {
        switch cause {
        case .password:
            "use --password-file FILE, set PINGFERRY_BACKUP_PASSWORD, or run the command in a terminal to enter the password"
        case .budget: "run a separate command for this backup"
        case .damage: "make the backup again, or copy it again from the computer that made it"
        }
    }
}
