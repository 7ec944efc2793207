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
    }

    /// A file of the store.
    enum File: Sendable {
        /// What is worth telling of the directory as a whole.
        case facts
        /// A file of a folder, by both their places.
        case file(folder: Int, index: Int)
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
    /// The place of the first part of each folder.
    private let firstParts: [Int]

    /// - Parameters:
    ///   - path: what reports call the store.
    ///   - folderPath: the folder that its files are opened in.
    ///   - base: what the paths of its entries begin with.
    init(path: String, folderPath: String, base: String, folders: [Folder]) {
        (self.path, self.folderPath, self.base, self.folders) = (path, folderPath, base, folders)
        var parts: [StorePart] = []
        var firstParts: [Int] = []
        for folder in folders {
            firstParts.append(parts.count)
            switch folder.contents {
            case .pings: parts.append(StorePart(kind: .gleanPingFile, path: folder.path))
            case .events:
                parts += folder.files.indices.map { index in
                    let name = folder.prefix + folder.name(index)
                    return StorePart(kind: .gleanPendingEvents, path: base + String(decoding: name, as: UTF8.self))
                }
            }
        }
        self.parts = parts.isEmpty ? [StorePart(kind: .gleanPingFile, path: path)] : parts
        self.firstParts = firstParts
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
    /// A file by its place in the order of the store.
    func file(_ index: Int) -> File {
        var left = index - 1
        guard left >= 0 else { return .facts }
        for (place, folder) in folders.enumerated() {
            if left < folder.files.count { return .file(folder: place, index: left) }
            left -= folder.files.count
        }
        return .facts
    }

    /// The part that a file belongs to.
    func part(folder: Int, index: Int) -> Int {
        switch folders[folder].contents {
        case .pings: firstParts[folder]
        case .events: firstParts[folder] + index
        }
    }

    /// Stands in `Authorization` and in `authorization`: a field of a header that holds a credential.
    private static let credentialText = "uthorization"

    /// A file as it is read and quarantined.
    func storeFile(folder: Int, index: Int) -> StoreFile {
        let folder = folders[folder]
        let name = folder.prefix + folder.name(index)
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
