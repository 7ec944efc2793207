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
                "B27", "the encrypted manifest has \(main.count) bytes, which is not a multiple of the block size")
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
