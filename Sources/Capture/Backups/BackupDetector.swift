import DeviceBackup
import Files

/// A detector that determines whether a folder is an iOS backup.
///
/// Source: "iOS backups", section 2.3.
struct BackupDetector: Sendable {
    /// The name of the manifest (the list of files in a backup) since iOS 10.
    static let databaseName = "Manifest.db"
    /// The name of the manifest before iOS 10.
    static let binaryManifestName = "Manifest.mbdb"

    /// The spool whose folder is used for temporary copies of manifests.
    let spool: Spool

    /// Returns whether a folder that contains files named `manifests` is a backup.
    ///
    /// If an operating system error prevents `Manifest.plist` or the manifest from being read, the folder counts as a
    /// backup, so that opening the backup reports the error.
    func isBackup(_ folder: borrowing Folder, manifests: [[UInt8]]) -> Bool {
        let hasDatabase = manifests.contains { $0.elementsEqual(Self.databaseName.utf8) }
        let hasBinary = manifests.contains { $0.elementsEqual(Self.binaryManifestName.utf8) }
        guard hasDatabase || hasBinary else { return false }
        do throws(FileError) {
            if try BackupPropertyLists(in: folder).hasBackupKeys { return true }
        } catch {
            return true
        }
        return hasBinary && isBinaryManifest(in: folder) || hasDatabase && isManifestDatabase(in: folder)
    }

    private func isBinaryManifest(in folder: borrowing Folder) -> Bool {
        do throws(FileError) {
            let source = try folder.source(Array(Self.binaryManifestName.utf8))
            return try source.bytes(at: 0, count: BinaryManifest.magic.count) == BinaryManifest.magic
        } catch {
            return error.isReadFailure
        }
    }

    private func isManifestDatabase(in folder: borrowing Folder) -> Bool {
        let main: ByteSource
        do throws(FileError) {
            main = try folder.source(Array(Self.databaseName.utf8))
        } catch {
            return error.isReadFailure
        }
        // A write-ahead log that cannot be read is reported when the backup is opened.
        let log = try? folder.source(Array((Self.databaseName + "-wal").utf8))
        do {
            _ = try ManifestDatabase(main, log: log, spool: spool)
            return true
        } catch {
            return error is FileError
        }
    }

    static func isManifest(_ name: some Collection<UInt8>) -> Bool {
        name.elementsEqual(databaseName.utf8) || name.elementsEqual(binaryManifestName.utf8)
    }

    /// Returns whether `name` is the name of a manifest, of its journal or write-ahead log, or of a property list of a
    /// backup.
    static func isManifestOrCompanion(_ name: some Collection<UInt8>) -> Bool {
        manifestNames.contains { name.elementsEqual($0.utf8) }
    }

    private static let manifestNames =
        [databaseName, binaryManifestName, databaseName + "-wal", databaseName + "-journal"]
        + BackupPropertyLists.Name.allCases.map(\.rawValue)

    /// Returns whether `name` is the name of a property list of a backup.
    static func isPropertyList(_ name: some Collection<UInt8>) -> Bool {
        BackupPropertyLists.Name.allCases.contains { name.elementsEqual($0.rawValue.utf8) }
    }

    /// Returns whether `name` consists of 40 lowercase hexadecimal digits, like the names of backed-up files.
    static func isBackupFileName(_ name: some Collection<UInt8>) -> Bool { FileID(Array(name)) != nil }
}

extension BackupPropertyLists {
    /// Reads the property lists of the backup in `folder`.
    ///
    /// A list that is missing, too large or not a regular file is skipped. ``FolderSearch`` reports a folder, a pipe, a
    /// socket or a device in the place of a list. Other errors are thrown for `Manifest.plist` and ignored for the other
    /// lists. Without `Manifest.plist`, an encrypted backup would look like a damaged unencrypted backup.
    init(in folder: borrowing Folder) throws(FileError) {
        self.init()
        for name in Name.allCases {
            var bytes: [UInt8] = []
            do throws(FileError) {
                try folder.read(Array(name.rawValue.utf8), limit: name.sizeLimit, into: &bytes)
            } catch {
                guard name == .manifest, error.isReadFailure else { continue }
                throw error
            }
            read(bytes, of: name)
        }
    }
}
