import Files
import Telemetry

/// The data directory of one instance of the SDK as one store: its pings, and the events that are in no ping yet.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 1 and 2.
struct GleanDirectory: Store {
    /// What lies in a folder of the directory.
    enum Contents: Sendable, Equatable {
        case pings(GleanPingReader.Folder)
        case events

        /// What the folder of a name holds; nil for any other name.
        init?(folder name: String) {
            switch name {
            case "pending_pings": self = .pings(.pendingPings)
            case "deletion_request": self = .pings(.deletionRequests)
            case "tmp": self = .pings(.unfinished)
            case "events": self = .events
            default: return nil
            }
        }

        var kind: StoreKind {
            switch self {
            case .pings: .gleanPingFile
            case .events: .gleanPendingEvents
            }
        }
    }

    /// Files of a folder of the directory, in the order in which they are read.
    struct Folder: Sendable {
        let contents: Contents
        /// The folder's name and a slash; empty where the folder itself was given.
        let prefix: [UInt8]
        let entries: FolderEntries
        /// The places of the files among the entries.
        let files: [UInt32]
        /// Its path in the capture.
        let path: String

        func name(_ index: Int) -> [UInt8] { entries.name(Int(files[index])) }

        /// The number of parts of the store that the folder is: each file of events is one.
        fileprivate var partCount: Int { contents == .events ? files.count : 1 }
    }

    /// The place of a file in the directory.
    struct Place: Sendable, Equatable {
        /// The index of the folder among those of the directory.
        let folder: Int
        /// The index of the file in the folder.
        let index: Int
    }

    let path: String
    /// The folder that files are opened in.
    let folderPath: String
    /// The beginning of the paths of its entries.
    let base: String
    /// The folders by the bytes of their names.
    let folders: [Folder]
    let parts: [StorePart]
    /// The pings that lend to events.
    let lenders = SharedLenders()

    init(path: String, folderPath: String, base: String, folders: [Folder]) {
        (self.path, self.folderPath, self.base, self.folders) = (path, folderPath, base, folders)
        let parts = folders.flatMap { folder in
            switch folder.contents {
            case .pings: return [StorePart(kind: .gleanPingFile, path: folder.path)]
            case .events:
                return folder.files.indices.map { index in
                    let name = folder.prefix + folder.name(index)
                    return StorePart(kind: .gleanPendingEvents, path: base + String(decoding: name, as: UTF8.self))
                }
            }
        }
        self.parts = parts.isEmpty ? [StorePart(kind: .gleanPingFile, path: path)] : parts
    }

    let system: SystemName? = .glean
    var kind: StoreKind { parts[0].kind }
    let isReadAtOnce = false

    /// The files of all folders, and in front of them what there is to tell of the directory.
    var fileCount: Int { folders.reduce(1) { $0 + $1.files.count } }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        FileScan(
            files, ofStoreAt: path, inFolderAt: folderPath, of: context.tree, using: GleanFileReader(self, in: context))
    }
}

// MARK: - Files and parts

extension GleanDirectory {
    /// Returns the place of a file by its index in the order of the store, or `nil` for the facts about the directory, which
    /// come first.
    func place(ofFile index: Int) -> Place? {
        var left = index - 1
        guard left >= 0 else { return nil }
        for (number, folder) in folders.enumerated() {
            if left < folder.files.count { return Place(folder: number, index: left) }
            left -= folder.files.count
        }
        return nil
    }

    /// The index of the part that a file belongs to.
    func part(of place: Place) -> Int {
        let first = folders[..<place.folder].reduce(0) { $0 + $1.partCount }
        return folders[place.folder].contents == .events ? first + place.index : first
    }

    /// Stands in `Authorization` and in `authorization`: a field of a header that holds a credential.
    private static let credentialText = "uthorization"

    /// A file as it is read and quarantined.
    func storeFile(_ place: Place) -> StoreFile {
        let folder = folders[place.folder]
        let name = folder.prefix + folder.name(place.index)
        // The third line of a ping can hold any field of a header, though the SDK writes none that is a credential.
        return StoreFile(
            name: name, path: base + String(decoding: name, as: UTF8.self), kind: folder.contents.kind,
            credentials: .ifItHolds(Self.credentialText))
    }

    /// The places of the folders that hold queued pings.
    var queues: [Int] {
        folders.indices.filter { folders[$0].contents != .events && folders[$0].contents != .pings(.unfinished) }
    }
}
