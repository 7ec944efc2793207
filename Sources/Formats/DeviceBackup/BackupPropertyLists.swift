import Bytes
import JSONText
import PropertyList

/// The values that are used from the three property lists of a backup.
///
/// The names, numbers and identifiers of the phone in these lists are never read.
///
/// Source: "iOS backups", sections 2.2 and 2.3.
public struct BackupPropertyLists: Sendable, Equatable {
    /// A property list file of a backup.
    public enum Name: String, Sendable, CaseIterable {
        case info = "Info.plist"
        case manifest = "Manifest.plist"
        case status = "Status.plist"

        /// The maximum size of the file, in bytes.
        public var sizeLimit: Int {
            self == .info ? InputLimits.backupInfoSize : InputLimits.backupPropertyListSize
        }
    }

    /// The model of the phone, such as `iPhone11,2`.
    public private(set) var productType: String?
    /// The iOS version.
    public private(set) var productVersion: String?
    /// The date of the backup in the format of RFC 3339.
    public private(set) var lastBackup: String?
    /// The state of the backup, which is `finished` if it is complete.
    public private(set) var snapshotState: String?
    /// Whether the backup is marked as encrypted.
    public private(set) var isEncrypted = false
    /// The keybag, or `nil` if it is missing or is not data.
    public private(set) var keybag: [UInt8]?
    /// The wrapped key of the manifest, or `nil` if it is missing or is not data.
    public private(set) var manifestKey: [UInt8]?
    /// Whether one of the property lists contains a key that occurs only in property lists of backups.
    public private(set) var hasBackupKeys = false

    /// The maximum length of a stored string, in bytes.
    ///
    /// Longer strings are ignored.
    private static let textLengthLimit = 64

    /// Creates an empty value.
    public init() {}

    /// Reads the values of the property list `name` from `bytes`.
    ///
    /// A malformed list is ignored.
    public mutating func read(_ bytes: [UInt8], of name: Name) {
        guard let list = try? PropertyListDocument(bytes) else { return }
        switch name {
        case .info: readInfo(list)
        case .manifest: readManifest(list)
        case .status: readStatus(list)
        }
    }

    private mutating func readInfo(_ list: PropertyListDocument) {
        productType = Self.text("Product Type", list.root, list) ?? productType
        productVersion = Self.text("Product Version", list.root, list) ?? productVersion
        lastBackup = Self.date("Last Backup Date", list) ?? lastBackup
        hasBackupKeys =
            hasBackupKeys || Self.hasAny(of: ["Target Identifier", "Last Backup Date", "Unique Identifier"], list)
    }

    private mutating func readManifest(_ list: PropertyListDocument) {
        if let lockdown = list.value(of: "Lockdown", in: list.root) {
            productType = productType ?? Self.text("ProductType", lockdown, list)
            productVersion = productVersion ?? Self.text("ProductVersion", lockdown, list)
        }
        if let found = list.value(of: "IsEncrypted", in: list.root) {
            isEncrypted = list.boolean(of: found) || list.integer(of: found).unsigned == 1
        }
        keybag = Self.data("BackupKeyBag", list)
        manifestKey = Self.data("ManifestKey", list)
        hasBackupKeys =
            hasBackupKeys || Self.hasAny(of: ["BackupKeyBag", "IsEncrypted", "Lockdown", "SystemDomainsVersion"], list)
    }

    private mutating func readStatus(_ list: PropertyListDocument) {
        snapshotState = Self.text("SnapshotState", list.root, list)
        lastBackup = lastBackup ?? Self.date("Date", list)
        hasBackupKeys = hasBackupKeys || Self.hasAny(of: ["SnapshotState", "BackupState"], list)
    }

    private static func hasAny(of keys: [JSONKey], _ list: PropertyListDocument) -> Bool {
        keys.contains { list.value(of: $0, in: list.root) != nil }
    }

    private static func text(_ key: JSONKey, _ node: PropertyListNode, _ list: PropertyListDocument) -> String? {
        guard let found = list.value(of: key, in: node), list.kind(of: found) == .text,
            list.payload(of: found).count <= textLengthLimit
        else { return nil }
        return list.string(of: found)
    }

    private static func date(_ key: JSONKey, _ list: PropertyListDocument) -> String? {
        guard let found = list.value(of: key, in: list.root), list.kind(of: found) == .date else { return nil }
        return PropertyListDate.text(secondsSince2001: list.real(of: found))
    }

    private static func data(_ key: JSONKey, _ list: PropertyListDocument) -> [UInt8]? {
        guard let found = list.value(of: key, in: list.root), list.kind(of: found) == .data else { return nil }
        return list.payload(of: found).copied()
    }
}
