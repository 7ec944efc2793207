import DeviceBackup

/// The facts about a backup that a scan reports, but that records and bundles do not contain.
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
    /// Whether a password was needed to read the backup.
    public internal(set) var isEncrypted: Bool
    /// The model of the phone, or `nil` if it is unknown.
    public let productType: String?
    /// The version of iOS, or `nil` if it is unknown.
    public let productVersion: String?
    /// The date of the backup in RFC 3339, or `nil` if it is unknown.
    public let lastBackup: String?
    /// The state of the backup process, such as `finished` for a complete backup, or `nil` if it is unknown.
    public let snapshotState: String?
    /// The bundle IDs of the apps whose pings are missing because backups do not include them.
    public internal(set) var appsWithoutPings: [String] = []

    init(path: String, format: Format, isEncrypted: Bool, _ propertyLists: BackupPropertyLists) {
        self.path = path
        self.format = format
        self.isEncrypted = isEncrypted
        productType = propertyLists.productType
        productVersion = propertyLists.productVersion
        lastBackup = propertyLists.lastBackup
        snapshotState = propertyLists.snapshotState
    }

    /// The model, the iOS version and the date, if known, such as `iPhone11,2, iOS 13.3.1, made 2020-04-20T10:05:00Z`.
    public var origin: String {
        [productType, productVersion.map { "iOS \($0)" }, lastBackup.map { "made \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}
