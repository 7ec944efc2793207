import Bytes
import DeviceBackup
import Files
import Glibc
import Hashing
import Telemetry

/// An opener that unlocks a backup and reads its manifest.
///
/// Source: "iOS backups", sections 3 to 5 and 8.
struct BackupOpener {
    let location: BackupLocation
    let spool: Spool
    let passwords: BackupPasswords

    func open(_ folder: borrowing Folder, storeNames: StoreNames) throws(BackupError) -> OpenedManifest {
        let propertyLists = try BackupError.wrapping { () throws(FileError) in try BackupPropertyLists(in: folder) }
        let unlocker = BackupUnlocker(propertyLists: propertyLists, location: location, passwords: passwords)
        let found = try findManifest(in: folder, propertyLists, unlocker)
        var contents = BackupContents(storeNames, nameByteLimit: spool.archiveLimits.totalNameSize)
        var unlisted: UnlistedFiles?
        if case .binary = found.rows {
            unlisted = try BackupError.wrapping { () throws(FileError) in try UnlistedFiles(in: folder) }
        }
        var end = try found.rows.forEach { row throws(BackupError) in
            contents.add(row)
            unlisted?.remove(row)
        }
        if case .complete = end, let fault = unlisted?.damageDescription {
            end = .incomplete(caseID: "B44", text: fault)
        }
        if contents.hasFolders {
            _ = try found.rows.forEach { row throws(BackupError) in contents.registerClash(of: row) }
        }
        return OpenedManifest(
            location: location, propertyLists: propertyLists, unlocker: unlocker, format: found.format,
            protection: found.protection,
            contents: contents, end: end)
    }

    private struct FoundManifest {
        let rows: ManifestRows
        let format: BackupFacts.Format
        let protection: BackupFiles.Protection
    }

    private func findManifest(
        in folder: borrowing Folder, _ propertyLists: BackupPropertyLists, _ unlocker: BackupUnlocker
    ) throws(BackupError) -> FoundManifest {
        guard let main = try source(BackupDetector.databaseName, in: folder) else {
            guard let old = try source(BackupDetector.binaryManifestName, in: folder) else {
                throw BackupError("B33", "the manifest has disappeared")
            }
            let protection: BackupFiles.Protection =
                propertyLists.isEncrypted ? .encrypted(try unlocker.unlock()) : .plain
            return FoundManifest(rows: .binary(old), format: .mbdb, protection: protection)
        }
        let isPlain = ManifestDatabase.isDatabase(
            try BackupError.wrapping { () throws(FileError) in try main.bytes(at: 0, count: 16) })
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
    private func decryptManifest(_ main: ByteSource, _ propertyLists: BackupPropertyLists, _ keys: ClassKeys)
        throws(BackupError)
        -> ByteSource
    {
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
        return try BackupError.wrapping { () throws(FileError) in
            ByteSource(try DecryptedBytes(main, key: key, path: BackupDetector.databaseName))
        }
    }

    /// Returns the bytes of a file in the backup, or `nil` if the file is missing.
    private func source(_ name: String, in folder: borrowing Folder) throws(BackupError) -> ByteSource? {
        do throws(FileError) {
            return try folder.source(Array(name.utf8))
        } catch {
            if error.isNotFound { return nil }
            // Links are not followed. A journal or log that is a link is an error, because the manifest may be wrong
            // without it.
            guard [ELOOP, ENOTSUP, EISDIR].contains(error.code) else { throw BackupError(error) }
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
            throw BackupError(error)
        }
        do throws(BackupPasswords.UnlockError) {
            return try passwords.unlock(bag, path: location.shownPath)
        } catch {
            throw BackupError(error, propertyLists)
        }
    }
}

extension BackupError {
    fileprivate init(_ error: KeybagError) {
        switch error {
        case .malformed(let words): self.init("B24", "the keybag cannot be used: \(words)")
        case .unsupportedRounds(let count):
            self.init(
                "B25",
                "the keybag requires \(count) rounds, but only 1 to \(Keybag.supportedRounds.upperBound) are supported")
        }
    }

    fileprivate init(_ error: BackupPasswords.UnlockError, _ propertyLists: BackupPropertyLists) {
        let facts = BackupFacts(path: "", format: .sqlite, isEncrypted: true, propertyLists)
        let origin = facts.origin.isEmpty ? "" : " (\(facts.origin))"
        switch error {
        case .noPassword: self.init("B19", "no password for the encrypted backup\(origin)", cause: .password)
        case .wrongPassword:
            self.init(
                "B20",
                "wrong password for the encrypted backup\(origin); letters with accents may have been typed in "
                    + "another form", cause: .password)
        case .outOfBudget(let rounds):
            self.init(
                "B25",
                "the encrypted backup\(origin) was not opened: its keybag requires \(rounds) rounds, which exceeds the rest of "
                    + "the \(InputLimits.totalRoundCount) rounds allowed for all backups of a command", cause: .budget)
        }
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

    init(in folder: borrowing Folder) throws(FileError) {
        unlistedIDs = Set(try folder.entries().compactMap { FileID($0.name) })
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
        /// A file cannot be read, or the spool cannot be written.
        case file(FileError)
    }

    /// The cause of the error.
    public let cause: Cause
    /// The description, which begins with a case ID such as `B19` unless the operating system reported the error.
    public let description: String

    init(_ caseID: String, _ text: String, cause: Cause = .damage) {
        self.cause = cause
        description = "\(caseID) \(text)"
    }

    init(_ error: FileError) {
        cause = .file(error)
        description = error.description
    }

    static func wrapping<Value: ~Copyable>(_ body: () throws(FileError) -> Value) throws(BackupError) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw BackupError(error)
        }
    }

    var isSpoolFailure: Bool {
        if case .file(let error) = cause { error.operation == .spool } else { false }
    }

    /// The suggested next step for the user, or `nil` if there is none.
    public var remedy: String? {
        switch cause {
        case .password:
            "use --password-file FILE, set PINGFERRY_BACKUP_PASSWORD, or run the command in a terminal to enter the password"
        case .budget: "run a separate command for this backup"
        case .damage: "make the backup again, or copy it again from the computer that made it"
        case .file: nil
        }
    }
}
