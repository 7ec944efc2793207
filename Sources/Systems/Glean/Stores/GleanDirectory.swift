import Files
import Telemetry

/// The data directory of the SDK as a store of pings, and of events that are not yet included in a ping.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 1 and 2.
struct GleanDirectory: Store {
    /// The kind of files in a folder of the directory.
    enum Contents: Sendable, Equatable {
        case pings(GleanPingReader.Folder)
        case events

        /// Creates the kind of files in a folder named `name`, or returns `nil` for other folders.
        init?(folder name: String) {
            switch name {
            case "pending_pings": self = .pings(.pendingPings)
            case "deletion_request": self = .pings(.deletionRequests)
            case "tmp": self = .pings(.unfinishedPings)
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

    /// A folder of the directory, with its files in the order in which they are read.
    struct Folder: Sendable {
        let contents: Contents
        /// The name of the folder and a slash, or an empty array if the store is only this folder or a single file.
        let pathPrefix: [UInt8]
        let entries: FolderEntries
        /// The indexes of the files in ``entries``.
        let fileIndexes: [UInt32]
        /// The path of the folder in the capture.
        let path: String

        func fileName(at index: Int) -> [UInt8] { entries.name(Int(fileIndexes[index])) }

        /// The number of parts of the store in the folder.
        ///
        /// Each event file is a part. All pings of the folder together are one part.
        fileprivate var partCount: Int { contents == .events ? fileIndexes.count : 1 }
    }

    /// The position of a file in the directory.
    struct FilePosition: Sendable, Equatable {
        /// The index of the folder in ``GleanDirectory/folders``.
        let folderIndex: Int
        /// The index of the file in ``Folder/fileIndexes``.
        let fileIndex: Int
    }

    let path: String
    /// The path of the folder to which file names are relative.
    let folderPath: String
    /// The prefix of the paths of all files in the directory.
    let basePath: String
    /// The folders, sorted by name.
    let folders: [Folder]
    let parts: [StorePart]
    let newestPings = SharedNewestPings()

    init(path: String, folderPath: String, basePath: String, folders: [Folder]) {
        (self.path, self.folderPath, self.basePath, self.folders) = (path, folderPath, basePath, folders)
        let parts = folders.flatMap { folder in
            switch folder.contents {
            case .pings: return [StorePart(kind: .gleanPingFile, path: folder.path)]
            case .events:
                return folder.fileIndexes.indices.map { index in
                    let name = folder.pathPrefix + folder.fileName(at: index)
                    return StorePart(kind: .gleanPendingEvents, path: basePath + String(decoding: name, as: UTF8.self))
                }
            }
        }
        self.parts = parts.isEmpty ? [StorePart(kind: .gleanPingFile, path: path)] : parts
    }

    let system: SystemName? = .glean
    var kind: StoreKind { parts[0].kind }
    let isReadByOneJob = false

    /// The number of files in all folders plus one, because index 0 is the report on the directory.
    var fileCount: Int { folders.reduce(1) { $0 + $1.fileIndexes.count } }

    func scan(_ files: Range<Int>, in context: StoreContext) -> any StoreScan {
        FileScan(
            files, ofStoreAt: path, inFolderAt: folderPath, of: context.tree, using: GleanFileReader(self, in: context))
    }
}

// MARK: - Files and parts

extension GleanDirectory {
    /// Returns the position of the file at `index`, or `nil` for index 0, which is the report on the directory.
    func position(ofFile index: Int) -> FilePosition? {
        var left = index - 1
        guard left >= 0 else { return nil }
        for (number, folder) in folders.enumerated() {
            if left < folder.fileIndexes.count { return FilePosition(folderIndex: number, fileIndex: left) }
            left -= folder.fileIndexes.count
        }
        return nil
    }

    /// Returns the index of the part of the store that a file belongs to.
    func partIndex(of position: FilePosition) -> Int {
        let first = folders[..<position.folderIndex].reduce(0) { $0 + $1.partCount }
        return folders[position.folderIndex].contents == .events ? first + position.fileIndex : first
    }

    /// The text that the header field names `Authorization` and `authorization` have in common.
    ///
    /// A file that contains this text may contain a credential.
    private static let credentialMarker = "uthorization"

    /// Returns the description of the file at `position` that is needed to read or quarantine the file.
    func storeFile(at position: FilePosition) -> StoreFile {
        let folder = folders[position.folderIndex]
        let name = folder.pathPrefix + folder.fileName(at: position.fileIndex)
        // The third line of a ping can contain any header field, although the SDK does not write credentials.
        return StoreFile(
            name: name, path: basePath + String(decoding: name, as: UTF8.self), kind: folder.contents.kind,
            credentials: .ifContaining(Self.credentialMarker))
    }

    /// The indexes of the folders that contain queued pings.
    var queueFolderIndexes: [Int] {
        folders.indices.filter { folders[$0].contents != .events && folders[$0].contents != .pings(.unfinishedPings) }
    }
}
