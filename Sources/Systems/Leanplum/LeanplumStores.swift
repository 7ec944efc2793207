import Bytes
import Files
import Telemetry

/// The format of Leanplum's stores.
///
/// Files of the SDK are recognized by name, and preferences by their keys. No folder as a whole is a store, because the
/// SDK stores its files next to the files of the app. A renamed file cannot be identified, because its contents are a
/// plain list of dictionaries.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections A.1 and A.4.
struct LeanplumStores: StoreFormat {
    let kinds: [StoreKind] = [.leanplumSQLite, .leanplumPlist, .leanplumUserDefaults]

    private static let preferencesSuffix = ".plist"
    private static let preferencesFolder = "Preferences"

    /// Returns whether a file in an archive may belong to a store.
    ///
    /// Preferences are accepted in any folder.
    func mayBelongToStore(_ file: MemberName) -> Bool {
        LeanplumFileName.mayBelongToStore(file.name)
            || file.name.utf8.suffix(Self.preferencesSuffix.utf8.count).map(\.lowercased)
                .elementsEqual(Self.preferencesSuffix.utf8)
    }

    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool { LeanplumFileName(file: name) != nil }

    func namePrefixes(in store: (any Store)?) -> [String] { LeanplumFileName.prefixes }

    func stores(ofFile name: String, in folder: inout InspectedFolder) -> FileFinding {
        switch LeanplumFileName(file: name) {
        case .database?:
            return .exclusive([LeanplumDatabaseStore(path: folder.base + name)])
        case .requests(let applicationID)?:
            return .exclusive([LeanplumFileStore(.requests(applicationID: applicationID), name: name, in: folder)])
        case nil where LeanplumFileName.mayBelongToStore(name):
            guard isDetached(name, in: folder) else { return .unrelated }
            return .exclusive([LeanplumDatabaseStore(path: folder.base + name, isDetached: true)])
        case nil:
            guard isPreferences(name, in: &folder) else { return .unrelated }
            return .shared([LeanplumFileStore(.preferences, name: name, in: folder)])
        }
    }

    /// Returns whether a journal or write-ahead log is not empty and its database is missing.
    private func isDetached(_ name: String, in folder: borrowing InspectedFolder) -> Bool {
        guard let file = try? folder.source(Array(name.utf8)), file.count > 0 else { return false }
        do throws(FileError) {
            _ = try folder.source(Array((LeanplumFileName.databaseName(ofCompanion: name) ?? "").utf8))
            return false
        } catch {
            return error.isNotFound
        }
    }

    /// Returns whether a file contains preferences with Leanplum's keys.
    private func isPreferences(_ name: String, in folder: inout InspectedFolder) -> Bool {
        folder.name == Self.preferencesFolder && name.hasSuffix(Self.preferencesSuffix)
            && folder.holds(Array(name.utf8), all: [LeanplumDefaults.keyPrefix], mustFit: true)
    }
}

/// The kind of a Leanplum store, which is determined by the name of its file.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section A.1.
package enum LeanplumFileName: Equatable, Sendable {
    /// The database `__leanplum.sqlite` (generation 3).
    case database
    /// The file `_lprequests-<application id>` (generations 2a and 2b). The id is `nil` if the name is
    /// `_lprequests-(null)`.
    case requests(applicationID: String?)

    private static let databaseStem = "__leanplum"
    private static let databaseSuffix = ".sqlite"
    private static let requestsPrefix = "_lprequests-"
    /// The prefixes of the names of stores.
    static let prefixes = [databaseStem + databaseSuffix, requestsPrefix]
    /// The name suffixes of the journal and the write-ahead log of an SQLite database.
    static let companionSuffixes = ["-journal", "-wal"]

    /// Returns whether a file with this name is a store or belongs to one.
    package static func mayBelongToStore(_ name: String) -> Bool {
        LeanplumFileName(file: name) != nil || databaseName(ofCompanion: name) != nil
    }

    /// Returns the name of the database to which a journal or write-ahead log belongs, or `nil` for any other name.
    fileprivate static func databaseName(ofCompanion name: String) -> String? {
        guard let suffix = companionSuffixes.first(where: name.hasSuffix) else { return nil }
        let database = String(name.dropLast(suffix.count))
        return LeanplumFileName(file: database) == .database ? database : nil
    }

    /// Recognizes a store by its file name, or returns `nil` for any other name.
    ///
    /// The journal and the write-ahead log of a database are not recognized. The name of a copy can have a mark such as
    /// ` (1)` or ` copy`, which is not a part of an application id.
    package init?(file name: String) {
        if name.hasPrefix(Self.databaseStem), name.hasSuffix(Self.databaseSuffix) {
            let mark = name.utf8.dropFirst(Self.databaseStem.utf8.count).dropLast(Self.databaseSuffix.utf8.count)
            guard mark.first.map(Self.beginsMark) ?? true else { return nil }
            self = .database
        } else if name.hasPrefix(Self.requestsPrefix), name.utf8.count > Self.requestsPrefix.utf8.count {
            let id = name.utf8.dropFirst(Self.requestsPrefix.utf8.count)
            if id.starts(with: "(null)".utf8) {
                self = .requests(applicationID: nil)
            } else {
                let unmarked = id.prefix { !Self.beginsMark($0) }
                self = .requests(applicationID: String(Substring(unmarked.isEmpty ? id : unmarked)))
            }
        } else {
            return nil
        }
    }

    /// Returns whether `byte` can be the first byte of the mark of a copy.
    private static func beginsMark(_ byte: UInt8) -> Bool { byte.isOne(of: " (") }
}
