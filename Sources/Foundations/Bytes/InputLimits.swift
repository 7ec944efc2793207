/// The limits on the size and the number of things in an input.
///
/// Real captures stay far below the limits. The limits keep a hostile or damaged input from exhausting memory, disk space
/// or time. The limits that are part of a format are declared with the format: those of a system in its module, and those
/// of bundles in `BundleLayout`. `Architecture.md` lists what is reported beyond each limit.
public enum InputLimits {
    // MARK: Files

    /// The usual maximum size, in bytes, of a store file that is identified or parsed.
    public static let storeFileSize = 32 << 20
    /// The maximum size, in bytes, of a keyed archive, or of a file that is searched for a store by its contents.
    public static let keyedArchiveSize = 512 << 20
    /// The maximum size, in bytes, of a property list that identifies the owner of a container.
    public static let containerMetadataSize = 1 << 20
    /// The size, in bytes, up to which a file can be sparse.
    public static let sparseFileSize = 1 << 30
    /// The maximum ratio of the size of a larger file to the size of its allocated blocks.
    ///
    /// File systems that compress files allocate fewer blocks, too, but reach such a ratio only for files of zeros.
    public static let sparseFileRatio = 256
    /// The maximum number of links and special files that are reported individually.
    public static let reportedSkippedEntryCount = 10_000

    /// The maximum number of files in a folder that are inspected although their names give no reason to take them for
    /// archives.
    public static let guessedArchiveCount = 64
    /// The maximum number of files in iCloud that are reported individually in a folder.
    public static let reportedCloudFileCount = 1000

    // MARK: Paths

    /// The maximum size of a path in an archive or backup, in bytes, as on Linux.
    public static let pathSize = 4096
    /// The maximum number of parts of a path in an archive or backup.
    public static let pathDepth = 256
    /// The maximum number of path parts to resolve for one link in an archive.
    ///
    /// The limit is needed because a malicious archive can contain very long chains of links.
    public static let linkResolutionSteps = 256

    // MARK: Archives

    /// The default maximum size of the spool, in bytes.
    public static let spoolSize = 16 << 30
    /// The maximum number of compressions around an archive.
    ///
    /// Each level multiplies the cost of a decompression bomb.
    public static let archiveCompressionCount = 2
    /// The maximum number of bytes after the last xz stream of an archive that are omitted.
    public static let xzTailSize = 4096
    /// The maximum number of bytes before a zip archive whose directory does not lead to its members.
    public static let zipPrefixSize = 16 << 20
    /// The maximum number of times that an archive is read for the targets of its hard links.
    ///
    /// Each link in a chain of hard links to an omitted member requires another reading. Archivers make no such chains,
    /// because they link all names of a file directly to its first name.
    public static let archiveReadingCount = 4
    /// The maximum number of problems of an archive that are reported individually.
    public static let reportedArchiveProblemCount = 1000

    // MARK: Backups

    /// The maximum size, in bytes, of the manifest of a backup and of each file that belongs to the manifest.
    public static let backupManifestSize = 4 << 30
    /// The maximum number of rows of the manifest.
    public static let backupRowCount = 5_000_000
    /// The maximum size, in bytes, of the stored properties of a file in a row.
    public static let backupFilePropertiesSize = 1 << 20
    /// The maximum size of `Info.plist` in a backup, in bytes.
    public static let backupInfoSize = 64 << 20
    /// The maximum size of the other property lists of a backup, in bytes.
    public static let backupPropertyListSize = 16 << 20
    /// The maximum size of a keybag, in bytes.
    public static let keybagSize = 64 << 10
    /// The maximum number of rounds that a keybag requires.
    public static let keybagRoundCount = 50_000_000
    /// The maximum number of rounds for all keybags of a command.
    ///
    /// It allows about a hundred current backups, which take minutes.
    public static let totalRoundCount = 1_000_000_000
    /// The maximum number of containers in the inventory of a backup, and of files and folders of other SDKs in it.
    public static let inventoryEntryCount = 100_000
    /// The maximum number of problems of a backup that are reported individually.
    public static let reportedBackupProblemCount = 100

    // MARK: Request logs

    /// The maximum size of the decompressed text of a log, in bytes.
    public static let logTextSize = 1 << 40
    /// The maximum size, in bytes, of a line of a log, or of the needed parts of an HTTP archive entry.
    public static let logItemSize = 32 << 20
    /// The maximum number of rejected items of a log, which grows from the lower to the upper bound with the size of the
    /// file.
    ///
    /// A few bytes can decompress to millions of lines. Lines of real logs occupy at least 16 bytes of the file on average.
    public static let logRejectCount = 10_000...1_000_000
    /// The maximum size of a request in a Fiddler session, in bytes.
    ///
    /// Its converted form is several times as large.
    public static let fiddlerRequestSize = 16 << 20
    /// The number of bytes of a response, and of the metadata of an exchange, that are read in a Fiddler session.
    public static let fiddlerHeadSize = 64 << 10
    /// The maximum size of a decompressed request body, in bytes.
    public static let requestBodySize = 32 << 20
    /// The maximum ratio of the decompressed to the compressed size of a request body.
    public static let requestBodyRatio = 200
    /// The decompressed size, in bytes, up to which the ratio of a request body is not checked.
    public static let uncheckedRequestBodySize = 64 << 10
}

/// The limits of ``InputLimits`` for an archive, which tests reduce.
public struct ArchiveLimits: Sendable {
    /// The maximum size of a wanted member, in bytes.
    public var memberSize = 4 << 30
    /// The maximum number of members, including folders that occur only in the paths of other members.
    public var memberCount = 5_000_000
    /// The maximum total size, in bytes, of the names of members, or of the files in a backup.
    public var totalNameSize = 512 << 20
    /// The maximum ratio of unpacked to packed bytes, which applies beyond `uncheckedExpandedSize` unpacked bytes.
    public var expansionRatio = 1000
    /// The number of bytes to which any archive may expand, regardless of the ratio.
    ///
    /// The default is large, because apps may have large sparse files.
    public var uncheckedExpandedSize = 1 << 30

    /// Creates the default limits.
    public init() {}

    /// Returns whether expanding `archivedSize` bytes to `expandedSize` bytes exceeds the limits.
    public func isOverExpanded(_ expandedSize: Int, from archivedSize: Int) -> Bool {
        expandedSize > uncheckedExpandedSize && expandedSize / expansionRatio >= max(archivedSize, 1)
    }
}
