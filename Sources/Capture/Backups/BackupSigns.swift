import DeviceBackup
import Files

/// Tells whether a folder is a backup.
///
/// Source: "iOS backups", section 2.3.
struct BackupSigns: Sendable {
    /// The manifest since iOS 10.
    static let database = "Manifest.db"
    /// The manifest before it.
    static let binary = "Manifest.mbdb"

    /// The spool in whose folder manifests are copied, so that their tables can be read.
    let spool: Spool

    /// Returns whether a folder is a backup.
    ///
    /// A folder whose lists or manifest the operating system fails to read counts as a backup, so that opening it reports the
    /// error.
    /// - Parameter manifests: the names of its files that are those of manifests.
    func isBackup(_ folder: borrowing Folder, manifests: [[UInt8]]) -> Bool {
        let hasDatabase = manifests.contains { $0.elementsEqual(Self.database.utf8) }
        let hasBinary = manifests.contains { $0.elementsEqual(Self.binary.utf8) }
        guard hasDatabase || hasBinary else { return false }
        do throws(FileError) {
            if try BackupLists(in: folder).showBackup { return true }
        } catch {
            return true
        }
        return hasBinary && isBinaryManifest(in: folder) || hasDatabase && isManifestDatabase(in: folder)
    }

    private func isBinaryManifest(in folder: borrowing Folder) -> Bool {
        do throws(FileError) {
            let source = try folder.source(Array(Self.binary.utf8))
            return try source.bytes(at: 0, count: BinaryManifest.magic.count) == BinaryManifest.magic
        } catch {
            return error.isReadFailure
        }
    }

    private func isManifestDatabase(in folder: borrowing Folder) -> Bool {
        let main: ByteSource
        do throws(FileError) {
            main = try folder.source(Array(Self.database.utf8))
        } catch {
            return error.isReadFailure
        }
        // A log that cannot be read is reported when the backup is opened.
        let log = try? folder.source(Array((Self.database + "-wal").utf8))
        do throws(BackupError) {
            _ = try ManifestDatabase(main, log: log, spool: spool)
            return true
        } catch {
            if case .file = error.cause { return true }
            return false
        }
    }

    /// Whether a file is named like a manifest.
    static func isManifest(_ name: some Collection<UInt8>) -> Bool {
        name.elementsEqual(database.utf8) || name.elementsEqual(binary.utf8)
    }

    /// Whether an entry of a folder is named like a manifest.
    static func isManifest(_ index: Int, of entries: FolderEntries) -> Bool {
        entries.hasName(index, database) || entries.hasName(index, binary)
    }

    /// Whether a member of an archive may be a manifest, or lie beside one: its bytes are wanted before those of others.
    static func isBesideManifest(_ name: some Collection<UInt8>) -> Bool {
        manifests.contains { name.elementsEqual($0.utf8) }
    }

    private static let manifests =
        [database, binary, database + "-wal", database + "-journal"] + BackupLists.Name.allCases.map(\.rawValue)

    /// Whether a member of an archive is named like a file of a backup: 40 hexadecimal digits.
    static func isFile(_ name: some Collection<UInt8>) -> Bool { FileID(Array(name)) != nil }
}

extension BackupLists {
    /// Reads the lists of the backup in a folder.
    ///
    /// A list that is missing, too large or no regular file is skipped. So is an unreadable one, except for `Manifest.plist`:
    /// without it, an encrypted backup would look like a damaged plain one.
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
