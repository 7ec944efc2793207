import Bytes
import Telemetry

/// Recognizes Leanplum's own stores by their unique names, and preferences of an app by their keys.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections A.1 and A.4.
enum LeanplumStores {
    static let format = StoreFormat(
        kinds: [.leanplumSQLite, .leanplumPlist, .leanplumUserDefaults], mayBelongToStore: mayBelongToStore,
        // The companions of a database are useless without it.
        isNamedForStore: { name, _ in LeanplumFileName(file: name) != nil },
        // The SDK stores its files next to those of the app.
        storeOfFolder: nil, storesOfFile: stores(ofFile:in:),
        // The name of the file identifies it as well as the folder does.
        storesOfSingleFile: { name, _, folder in Self.stores(ofFile: name, in: &folder) },
        // The SDK's files keep their names, and a list of dictionaries under another name cannot be identified.
        storeByContents: nil,
        // Any app can contain the SDK, so it is unknown which apps lack a database in a backup.
        backups: nil)

    private static let preferencesSuffix = ".plist"
    private static let preferencesFolder = "Preferences"

    /// Returns whether a file in an archive, where preferences can be in any folder, may belong to a store.
    static func mayBelongToStore(_ file: MemberName) -> Bool {
        LeanplumFileName.mayBelongToStore(file.name)
            || file.name.utf8.suffix(Self.preferencesSuffix.utf8.count).map(\.lowercased)
                .elementsEqual(Self.preferencesSuffix.utf8)
    }

    static func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding {
        switch LeanplumFileName(file: name) {
        case .database?:
            return .exclusive([LeanplumDatabaseStore(path: folder.base + name)])
        case .requests(let applicationID)?:
            return .exclusive([LeanplumFileStore(.requests(applicationID: applicationID), name: name, in: folder)])
        case nil:
            guard isPreferences(name, in: &folder) else { return .unrelated }
            return .shared([LeanplumFileStore(.preferences, name: name, in: folder)])
        }
    }

    /// Returns whether a file contains preferences of an app that include Leanplum's keys.
    private static func isPreferences(_ name: String, in folder: inout InspectedFolder) -> Bool {
        folder.name == Self.preferencesFolder && name.hasSuffix(Self.preferencesSuffix)
            && folder.holds(Array(name.utf8), all: [LeanplumDefaults.keyPrefix], mustFit: true)
    }
}
