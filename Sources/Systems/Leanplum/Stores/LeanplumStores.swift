import Bytes
import Telemetry

/// How the stores of Leanplum's SDK are recognized: by their names, which no other file has, and among the preferences of an
/// app by the keys in them.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections A.1 and A.4.
struct LeanplumStores: StoreFormat {
    let absentFromAllBackups: String? = nil

    private static let preferencesSuffix = ".plist"
    private static let preferencesFolder = "Preferences"

    /// The preferences of an app may lie anywhere in an archive, and in a folder of any name.
    func mayBelongToStore(_ file: MemberName) -> Bool {
        LeanplumName.mayBelongToStore(file.name)
            || file.name.utf8.suffix(Self.preferencesSuffix.utf8.count).map(\.lowercased)
                .elementsEqual(Self.preferencesSuffix.utf8)
    }

    /// No folder as a whole is one: the SDK puts its files among those of the app.
    func store(ofFolder folder: inout FolderLook) -> (any Store)? { nil }

    func stores(ofFile name: String, in folder: inout FolderLook) -> FileFinding {
        switch LeanplumName(file: name) {
        case .database?:
            return .own([LeanplumDatabaseStore(path: folder.base + name)])
        case .requests(let applicationID)?:
            return .own([LeanplumFileStore(.requests(applicationID: applicationID), name: name, in: folder)])
        case nil:
            guard isPreferences(name, in: &folder) else { return .stranger }
            return .shared([LeanplumFileStore(.preferences, name: name, in: folder)])
        }
    }

    /// Its own name tells as much as the folder would.
    func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout FolderLook) -> FileFinding {
        stores(ofFile: name, in: &folder)
    }

    /// The SDK's files keep their names, and what a list of dictionaries is under another name cannot be told.
    func store(byContentsOf name: String, in folder: inout FolderLook) -> (any Store)? { nil }

    /// Any app may have the SDK, so nobody can tell which one lacks its database.
    func isAbsentFromBackups(_ applicationID: String, beside stores: [any Store]) -> Bool { false }

    /// Companions of the database are worth nothing without it.
    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool { LeanplumName(file: name) != nil }

    /// Whether a file has preferences of an app in it, and Leanplum's among them.
    private func isPreferences(_ name: String, in folder: inout FolderLook) -> Bool {
        folder.name == Self.preferencesFolder && name.hasSuffix(Self.preferencesSuffix)
            && folder.holds(Array(name.utf8), all: [LeanplumDefaults.keyPrefix], mustFit: true)
    }
}
