import DeviceBackup
import Files
import Glibc
import Secrets
import Telemetry

/// Unlocks a backup and reads its manifest.
///
/// Source: "iOS backups", sections 3 to 5 and 8.
struct BackupOpener {
    let location: BackupLocation
    let spool: Spool
    let passwords: BackupPasswords

    func open(_ folder: borrowing Folder, names: StoreNames) throws(BackupError) -> OpenedManifest {
        let lists = try BackupError.wrapping { () throws(FileError) in try BackupPropertyLists(in: folder) }
        let unlocker = BackupUnlocker(lists: lists, location: location, passwords: passwords)
        let found = try manifest(in: folder, lists, unlocker)
        var contents = BackupContents(names, nameLimit: spool.archiveLimits.nameBytes)
        var unlisted: UnlistedFiles?
        if case .binary = found.rows {
            unlisted = try BackupError.wrapping { () throws(FileError) in try UnlistedFiles(in: folder) }
        }
        var end = try found.rows.forEach { row throws(BackupError) in
            contents.add(row)
            unlisted?.remove(row)
        }
        if case .complete = end, let fault = unlisted?.fault { end = .incomplete("B44", fault) }
        if contents.hasFolders {
            _ = try found.rows.forEach { row throws(BackupError) in contents.addClash(of: row) }
        }
        return OpenedManifest(
            location: location, lists: lists, unlocker: unlocker, format: found.format, protection: found.protection,
            contents: contents, end: end)
    }

    private struct FoundManifest {
        let rows: ManifestRows
        let format: BackupFacts.Format
        let protection: BackupFiles.Protection
    }

    private func manifest(
        in folder: borrowing Folder, _ lists: BackupPropertyLists, _ unlocker: BackupUnlocker
    ) throws(BackupError) -> FoundManifest {
        guard let main = try source(BackupDetector.database, in: folder) else {
            guard let old = try source(BackupDetector.binary, in: folder) else {
                throw BackupError("B33", "the manifest is gone")
            }
            let protection: BackupFiles.Protection = lists.isEncrypted ? .encrypted(try unlocker.unlock()) : .plain
            return FoundManifest(rows: .binary(old), format: .mbdb, protection: protection)
        }
        let isPlain = ManifestDatabase.isDatabase(
            try BackupError.wrapping { () throws(FileError) in try main.bytes(at: 0, count: 16) })
        guard !isPlain, lists.isEncrypted else {
            let journal = try source(BackupDetector.database + "-journal", in: folder)
            let log = try source(BackupDetector.database + "-wal", in: folder)
            let database = try ManifestDatabase(main, journal: journal, log: log, spool: spool)
            let protection: BackupFiles.Protection =
                if !lists.isEncrypted {
                    .plain
                } else if lists.manifestKey != nil {
                    .mixed(nil)
                } else {
                    .encrypted(try unlocker.unlock())
                }
            return FoundManifest(rows: .database(database), format: .sqlite, protection: protection)
        }
        let keys = try unlocker.unlock()
        let database = try ManifestDatabase(decrypt(main, lists, keys), isDecrypted: true, spool: spool)
        return FoundManifest(rows: .database(database), format: .sqlite, protection: .encrypted(keys))
    }

    /// Decrypts the manifest.
    ///
    /// The padding is kept, because SQLite ignores bytes after the length that the header states.
    private func decrypt(_ main: ByteSource, _ lists: BackupPropertyLists, _ keys: ClassKeys) throws(BackupError)
        -> ByteSource
    {
        guard let stored = lists.manifestKey, let wrapped = WrappedKey(stored) else {
            throw BackupError("B27", "the manifest is encrypted, and there is no key of 44 bytes for it")
        }
        let key: CipherKey
        do throws(WrappedKeyError) {
            key = try keys.unwrap(wrapped)
        } catch {
            throw BackupError("B27", "the key of the manifest \(error.words)")
        }
        guard main.count > 0, main.count.isMultiple(of: CipherKey.blockSize) else {
            throw BackupError("B27", "the encrypted manifest has \(main.count) bytes, which are no whole blocks")
        }
        return try BackupError.wrapping { () throws(FileError) in
            ByteSource(try DecryptedBytes(main, key: key, path: BackupDetector.database))
        }
    }

    /// Returns the bytes of a file in the backup, or `nil` if the file is missing.
    private func source(_ name: String, in folder: borrowing Folder) throws(BackupError) -> ByteSource? {
        do throws(FileError) {
            return try folder.source(Array(name.utf8))
        } catch {
            if error.isNotFound { return nil }
            // Links are not followed. Without a linked journal or log, the manifest may have other contents.
            guard [ELOOP, ENOTSUP, EISDIR].contains(error.code) else { throw BackupError(error) }
            throw BackupError("B33", "\(name) is no regular file")
        }
    }
}
