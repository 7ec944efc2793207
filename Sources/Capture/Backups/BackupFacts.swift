import DeviceBackup

/// The facts about a backup that a scan reports.
///
/// Records and bundles do not contain them.
///
/// Source: "iOS backups", section 7.
public struct BackupFacts: Sendable, Equatable {
    /// The format of the manifest of a backup.
    public enum Format: String, Sendable {
        /// The SQLite database `Manifest.db`.
        case sqlite
        /// The binary file `Manifest.mbdb`.
        case mbdb
    }

    /// The path of the backup in the capture, or an empty string if the backup is the capture.
    public let path: String
    /// The format of the manifest.
    public let format: Format
    /// Whether a password was needed.
    public internal(set) var isEncrypted: Bool
    /// The model of the phone, if it is known.
    public let productType: String?
    /// The version of iOS, if it is known.
    public let productVersion: String?
    /// The date of the backup in RFC 3339, if it is known.
    public let lastBackup: String?
    /// The state of the backup process, which is `finished` for a complete backup.
    public let snapshotState: String?
    /// The apps in the backup whose pings are stored outside of backups, and were not found in the capture either.
    public internal(set) var appsWithoutPings: [String] = []

    init(path: String, format: Format, isEncrypted: Bool, _ lists: BackupPropertyLists) {
        self.path = path
        self.format = format
        self.isEncrypted = isEncrypted
        productType = lists.productType
        productVersion = lists.productVersion
        lastBackup = lists.lastBackup
        snapshotState = lists.snapshotState
    }

    /// The model, the version and the date, as far as they are known: `iPhone11,2, iOS 13.3.1, made
    /// 2020-04-20T10:05:00Z`.
    public var origin: String {
        [productType, productVersion.map { "iOS \($0)" }, lastBackup.map { "made \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}
