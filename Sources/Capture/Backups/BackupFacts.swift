import DeviceBackup

/// What a backup is, as a scan tells it. Nothing of it enters a record or a bundle.
///
/// Source: "iOS backups", section 7.
public struct BackupFacts: Sendable, Equatable {
    /// The kind of its manifest.
    public enum Format: String, Sendable {
        /// `Manifest.db`
        case sqlite
        /// `Manifest.mbdb`
        case mbdb
    }

    /// Its path in the capture; empty if it is the capture.
    public let path: String
    /// The kind of its manifest.
    public let format: Format
    /// Whether a password was needed.
    public internal(set) var isEncrypted: Bool
    /// The model of the phone, where it is known.
    public let productType: String?
    /// The version of iOS, where it is known.
    public let productVersion: String?
    /// When it was made, in RFC 3339, where it is known.
    public let lastBackup: String?
    /// How far it came; `finished` for a whole one.
    public let snapshotState: String?
    /// Apps in it that keep their pings where no backup looks, and of which nothing of the kind was found.
    public internal(set) var absent: [String] = []

    init(path: String, format: Format, isEncrypted: Bool, _ lists: BackupLists) {
        self.path = path
        self.format = format
        self.isEncrypted = isEncrypted
        productType = lists.productType
        productVersion = lists.productVersion
        lastBackup = lists.lastBackup
        snapshotState = lists.snapshotState
    }

    /// The phone and the date, as far as they are known: `iPhone11,2, iOS 13.3.1, made 2020-04-20T10:05:00Z`.
    public var origin: String {
        [productType, productVersion.map { "iOS \($0)" }, lastBackup.map { "made \($0)" }].compactMap(\.self)
            .joined(separator: ", ")
    }
}
