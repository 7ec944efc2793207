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
        let fileNames: [[UInt8]]
        /// The path of the folder in the capture.
        let path: String

        /// The number of parts of the store in the folder.
        ///
        /// Each event file is a part. All pings of the folder together are one part.
        fileprivate var partCount: Int { contents == .events ? fileNames.count : 1 }

        /// Returns the path of the file at `index`, relative to the directory.
        func path(ofFile index: Int) -> [UInt8] { pathPrefix + fileNames[index] }
    }

    /// The position of a file in the directory.
    struct FilePosition: Sendable, Equatable {
        /// The index of the folder in ``GleanDirectory/folders``.
        let folderIndex: Int
        /// The index of the file in ``Folder/fileNames``.
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
    /// Whether the directory contains a folder of pings, which shows that its databases are from the SDK.
    let hasPings: Bool
    let newestPings = SharedNewestPings()

    init(path: String, folderPath: String, basePath: String, folders: [Folder], hasPings: Bool = false) {
        (self.path, self.folderPath, self.basePath, self.folders) = (path, folderPath, basePath, folders)
        self.hasPings = hasPings
        let parts = folders.flatMap { folder in
            switch folder.contents {
            case .pings: return [StorePart(kind: .gleanPingFile, path: folder.path)]
            case .events:
                return folder.fileNames.indices.map { index in
                    let name = folder.pathPrefix + folder.fileNames[index]
                    return StorePart(kind: .gleanPendingEvents, path: basePath + String(decoding: name, as: UTF8.self))
                }
            }
        }
        self.parts = parts.isEmpty ? [StorePart(kind: .gleanPingFile, path: path)] : parts
    }

    let system: SystemName? = .glean
    var kind: StoreKind { parts[0].kind }

    /// The number of files in all folders plus one, because index 0 is the report on the directory.
    var fileCount: Int { folders.reduce(1) { $0 + $1.fileNames.count } }

    var pendingEventFiles: Range<Int> {
        guard let events = folders.firstIndex(where: { $0.contents == .events }) else { return 0..<0 }
        let start = folders[..<events].reduce(1) { $0 + $1.fileNames.count }
        return start..<start + folders[events].fileNames.count
    }

    func report(in context: StoreContext) -> StoreReport? {
        guard let folder = try? context.tree.folder(at: folderPath) else { return nil }
        return DirectoryReport.report(on: self, folder)
    }

    func makeReader(in context: StoreContext) -> any StoreReader { GleanFileReader(self, in: context) }
}

// MARK: - Files and parts

extension GleanDirectory {
    /// Returns the position of the file at `index`, or `nil` for index 0, which is the report on the directory.
    func position(ofFile index: Int) -> FilePosition? {
        var left = index - 1
        guard left >= 0 else { return nil }
        for (number, folder) in folders.enumerated() {
            if left < folder.fileNames.count { return FilePosition(folderIndex: number, fileIndex: left) }
            left -= folder.fileNames.count
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

    func file(at index: Int) -> StoreFile? { position(ofFile: index).map { storeFile(at: $0) } }

    /// Returns the file at `position`.
    func storeFile(at position: FilePosition) -> StoreFile {
        let folder = folders[position.folderIndex]
        let name = folder.fileNames[position.fileIndex]
        let relativePath = folder.pathPrefix + name
        let isPing = folder.contents != .events
        // A large file of another program is not quarantined (case G17).
        let isForeign = isPing && GleanName.digits(ofUUID: name.span) == nil
        // The third line of a ping can contain any header field, although the SDK does not write credentials.
        return StoreFile(
            name: relativePath, path: basePath + String(decoding: relativePath, as: UTF8.self),
            kind: folder.contents.kind, credentials: .ifContaining(Self.credentialMarker),
            sizeLimit: isPing ? GleanPingReader.sizeLimit : .usual,
            problemIfTooLarge: isForeign ? GleanFileReader.foreignFileProblem : nil)
    }

    /// The indexes of the folders that contain queued pings.
    var queueFolderIndexes: [Int] {
        folders.indices.filter { folders[$0].contents != .events && folders[$0].contents != .pings(.unfinishedPings) }
    }
}

// MARK: - Discovery

/// The functions that list the files of a data directory and report unexpected entries.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 2 and 10.
enum DirectoryListing {
    /// Returns the folders of pings and events, sorted by name, and claims them and the folder of the databases.
    ///
    /// `hasPings` is the value of ``GleanDirectory/hasPings``.
    static func folders(in directory: inout InspectedFolder, hasPings: Bool) -> [GleanDirectory.Folder] {
        let names = directory.folders.sorted { $0.lexicographicallyPrecedes($1) }
        return names.compactMap { name in
            let text = String(decoding: name, as: UTF8.self)
            if text == GleanStores.databasesFolderName {
                directory.claim(folder: name)
                reportSpecialFiles(inFolder: name, of: &directory)
                reportDamagedDatabase(inFolder: name, of: &directory, hasPings)
            }
            guard let contents = GleanDirectory.Contents(folder: text) else { return nil }
            directory.claim(folder: name)
            return folder(
                contents, at: directory.path(of: name), pathPrefix: name + [UInt8(ascii: "/")], in: &directory)
        }
    }

    /// Lists the files of the folder at `path` by name.
    ///
    /// Reports an error and returns `nil` if the folder cannot be read. Also returns `nil` if a folder of unfinished
    /// pings contains no files to be read.
    ///
    /// `pathPrefix` is the name of the folder and a slash, or empty if `directory` is the folder itself.
    static func folder(
        _ contents: GleanDirectory.Contents, at path: String, pathPrefix: [UInt8], in directory: inout InspectedFolder
    ) -> GleanDirectory.Folder? {
        do throws(FileError) {
            let folder = try directory.tree.folder(at: path)
            let device = directory.excluded.isEmpty ? nil : try folder.device()
            var fileNames: [[UInt8]] = []
            for entry in try folder.entries().sorted(by: FolderEntry.precedes) {
                let name = entry.name
                guard entry.kind == .special || isRelevant(name, in: contents) else { continue }
                if let device, directory.excluded.contains(FileIdentity(device: device, inode: entry.inode)) {
                    directory.report(leftOut: directory.path(of: pathPrefix + name))
                    continue
                }
                let target =
                    entry.kind == .link ? directory.tree.target(ofLink: name, inFolder: path)?.shownPath : nil
                if let problem = problem(with: name, entry.kind, in: contents, leadingTo: target) {
                    directory.report(problem, of: pathPrefix + name)
                    // A folder inside a claimed folder is not searched, so it need not be claimed.
                    if pathPrefix.isEmpty, entry.kind == .folder { directory.claim(folder: name) }
                } else {
                    fileNames.append(name)
                }
            }
            // The folder of unfinished pings is usually empty, and is omitted then.
            guard contents != .pings(.unfinishedPings) || !fileNames.isEmpty else { return nil }
            return GleanDirectory.Folder(
                contents: contents, pathPrefix: pathPrefix, fileNames: fileNames, path: path)
        } catch {
            directory.report(unreadable: path, error)
            return nil
        }
    }

    /// Reports the pipes, sockets and devices in the subfolder `name`, which is claimed and not searched.
    private static func reportSpecialFiles(inFolder name: [UInt8], of directory: inout InspectedFolder) {
        let path = directory.path(of: name)
        // An error is reported when a file in the folder is read.
        guard let entries = try? directory.tree.folder(at: path).entries() else { return }
        for entry in entries where entry.kind == .special {
            directory.report(SkippedEntry(path: "\(path)/\(entry.text)", isLink: false))
        }
    }

    /// Reports a database that does not have the format of the SDK, because the app cannot make pings of it either.
    private static func reportDamagedDatabase(
        inFolder name: [UInt8], of directory: inout InspectedFolder, _ hasPings: Bool
    ) {
        let file = name + Array("/\(GleanStores.safeDatabaseName)".utf8)
        // A missing file is normal, and a large one is not read.
        guard let bytes = try? directory.contents(of: file),
            let fault = SafeDatabase.fault(of: bytes, isFromSDK: hasPings)
        else { return }
        directory.report(
            Problem("unreadable", "the database cannot be read: \(fault)"), of: file)
    }

    /// Returns whether the entry `name` of a folder must be considered.
    ///
    /// Hidden entries are ignored (case G18), as are entries of `tmp` that are not named like a ping (case G21).
    private static func isRelevant(_ name: [UInt8], in contents: GleanDirectory.Contents) -> Bool {
        guard name.first != UInt8(ascii: "."), !FolderEntry.isWindowsMetadata(name) else { return false }
        return contents != .pings(.unfinishedPings) || GleanName.digits(ofUUID: name.span) != nil
    }

    /// Returns the problem with an entry, or `nil` if the entry is a file that must be read.
    private static func problem(
        with name: [UInt8], _ kind: FolderEntry.Kind, in contents: GleanDirectory.Contents, leadingTo target: String?
    ) -> Problem? {
        let code = contents == .events ? "G56" : nil
        let expected = contents == .events ? "an events file" : "a ping file"
        switch kind {
        case .file:
            guard contents == .events, !GleanName.isPingName(name.span) else { return nil }
            return Problem("G56", "not read: not the name of a ping")
        case .folder: return Problem(code ?? "G19", "not read: a folder where \(expected) should be")
        case .link:
            let advice = "not followed, where \(expected) should be; give that as a capture of its own"
            return Problem(code ?? "G20", "symbolic link\(target.map { " to \($0)" } ?? "") \(advice)", isLoss: true)
        case .special:
            return Problem(code ?? "G20", "not read: a pipe, a socket or a device where \(expected) should be")
        }
    }
}
