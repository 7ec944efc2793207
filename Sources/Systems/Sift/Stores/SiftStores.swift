import Bytes
import Files
import Telemetry

/// The format of the folder of Sift's SDK, and of a single file from it.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 2.1 and 2.2.
struct SiftStores: StoreFormat {
    let kinds: [StoreKind] = [.siftUploader, .siftQueue]
    // The absence is reported for all apps, because any app may contain the SDK.
    let absenceFromBackups: String? = "queues of Sift are not in backups: they are stored in Library/Caches"

    private static let queuesFolderName = Array(SiftFile.queuesFolderName.utf8)

    /// Returns whether an archive member may belong to the folder of the SDK.
    ///
    /// Queues can have any name, so every file below a folder of queues may be one.
    func mayBelongToStore(_ file: MemberName) -> Bool {
        SiftFile(name: file.name) != nil || file.rootName == SiftFile.queuesFolderName
            || file.folders.contains(SiftFile.queuesFolderName)
    }

    /// Returns the store for `folder` if it is the SDK's folder, or `nil` otherwise.
    ///
    /// The folder is recognized by its name, or because it contains both an archive of the SDK and a folder of queues.
    func store(ofFolder folder: inout InspectedFolder) -> (any Store)? {
        let isNamed = folder.name == SiftFile.folderName
        let hasQueues = folder.folders.contains(Self.queuesFolderName)
        guard isNamed || hasQueues else { return nil }
        var known: [SiftFolder.File] = []
        var others: [[UInt8]] = []
        for name in folder.files {
            if let file = SiftFile(name: String(decoding: name, as: UTF8.self)) {
                known.append(SiftFolder.File(sdkFile: file, relativePath: name))
            } else {
                others.append(name)
            }
        }
        guard isNamed || Self.containsArchive(known, in: &folder) else { return nil }
        for name in others { folder.exclude(fileFromStore: name) }
        guard hasQueues else { return SiftFolder(path: folder.path, pathPrefix: folder.base, files: known) }
        folder.claim(folder: Self.queuesFolderName)
        return SiftFolder(path: folder.path, pathPrefix: folder.base, files: known + Self.queueFiles(in: &folder))
    }

    // A file outside the folder of the SDK may belong to any program.
    func stores(ofSingleFile name: String, inFolderAt path: String, _ folder: inout InspectedFolder)
        -> FileFinding
    {
        SiftFile(name: name, inFolder: path).map { .exclusive([SiftFolder(single: $0, named: name)]) } ?? .unrelated
    }

    /// Recognizes an uploader or a queue by the contents of its archive, regardless of its name.
    ///
    /// Returns `nil` for any other file.
    func store(byContentsOf name: String, in folder: inout InspectedFolder) -> (any Store)? {
        // The file was opened before, so the only possible error is that it is too large.
        guard let bytes = try? folder.contents(of: Array(name.utf8), limit: InputLimits.keyedArchiveSize) else {
            return nil
        }
        return SiftFile(archive: bytes, name: name).map { SiftFolder(single: $0, named: name) }
    }

    func namePrefixes(in store: (any Store)?) -> [String] {
        [SiftFile.folderName] + (store is SiftFolder ? SiftFile.names : [])
    }

    func isNamedForStore(_ name: String, in store: (any Store)?) -> Bool {
        if name == SiftFile.folderName { return true }
        return store is SiftFolder && (name == SiftFile.queuesFolderName || SiftFile(name: name) != nil)
    }
}

// MARK: - Looking into the folder

extension SiftStores {
    private static func containsArchive(_ files: [SiftFolder.File], in folder: inout InspectedFolder) -> Bool {
        for file in files {
            // A file that cannot be read does not identify the folder. If the SDK's folder contains it, the scan
            // reports the error.
            guard let contents = try? folder.contents(of: file.relativePath) else { continue }
            if contents.contains(text: "NSKeyedArchiver"),
                file.sdkFile.identifyingStrings.contains(where: { contents.contains(text: $0) })
            {
                return true
            }
        }
        return false
    }

    /// Returns the queue files, including files in subfolders.
    ///
    /// Queue identifiers can contain slashes, which create subfolders. Hidden files are omitted, because they remain
    /// from incomplete saves.
    private static func queueFiles(in sdkFolder: inout InspectedFolder) -> [SiftFolder.File] {
        var found: [SiftFolder.File] = []
        var unread: [(path: String, name: [UInt8])] = [(sdkFolder.path(of: queuesFolderName), queuesFolderName)]
        while let (path, name) = unread.popLast() {
            do throws(FileError) {
                let folder = try sdkFolder.tree.folder(at: path)
                let device = sdkFolder.excluded.isEmpty ? nil : try folder.device()
                for entry in try folder.entries()
                where entry.name.first != UInt8(ascii: ".") && !FolderEntry.isWindowsMetadata(entry.name) {
                    let entryPath = "\(path)/\(entry.text)"
                    let entryName = name + [UInt8(ascii: "/")] + entry.name
                    if let device, sdkFolder.excluded.contains(FileIdentity(device: device, inode: entry.inode)) {
                        sdkFolder.report(leftOut: entryPath)
                        continue
                    }
                    switch entry.kind {
                    case .file:
                        found.append(SiftFolder.File(sdkFile: queueFile(named: entryName), relativePath: entryName))
                    case .folder: unread.append((entryPath, entryName))
                    case .link: sdkFolder.report(SkippedEntry(path: entryPath, isLink: true))
                    case .special: sdkFolder.report(SkippedEntry(path: entryPath, isLink: false))
                    }
                }
            } catch {
                sdkFolder.report(unreadable: path, error)
            }
        }
        return found
    }

    /// Returns the queue file at the path `name` in the folder of the SDK.
    private static func queueFile(named name: [UInt8]) -> SiftFile {
        .queue(identifier: String(decoding: name.dropFirst(queuesFolderName.count + 1), as: UTF8.self))
    }
}

// MARK: - Files

/// A file in the folder of the SDK.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 2.1.
package enum SiftFile: Sendable, Equatable {
    /// The file `sift`, which contains the account id, the user id, and the beacon key as a credential.
    case keys
    /// The file `ios_app_state_collector`, which contains the time at which app states were last collected.
    case collector
    /// The file `uploader`, which contains batches of events whose upload is not yet confirmed.
    case uploader
    /// The file `queues/<identifier>`, which contains a queue of events.
    case queue(identifier: String)

    /// The name of the SDK's folder, which is the same in all versions of the SDK.
    static let folderName = "sift-v0_0_1"
    /// The name of the subfolder that contains the queues.
    static let queuesFolderName = "queues"

    /// Creates the kind of the file `name` in the folder of the SDK, or returns `nil` if the SDK writes no such file.
    init?(name: String) {
        switch name {
        case "sift": self = .keys
        case "ios_app_state_collector": self = .collector
        case "uploader": self = .uploader
        default: return nil
        }
    }

    /// The names of the files in the folder of the SDK, except for the queues.
    static let names = ["sift", "ios_app_state_collector", "uploader"]

    /// Creates the kind of the file `name` in the folder at `path`, or returns `nil` if the file is not from the SDK.
    init?(name: String, inFolder path: String) {
        let parts = Path.parts(of: path)
        guard let index = parts.lastIndex(of: Self.folderName) else { return nil }
        let below = parts[(index + 1)...]
        if below.isEmpty {
            self.init(name: name)
        } else if below.first == Self.queuesFolderName {
            self = .queue(identifier: (below.dropFirst() + [name]).joined(separator: "/"))
        } else {
            return nil
        }
    }

    /// Creates the kind of an archive from its contents, or returns `nil` if the archive is neither an uploader nor a
    /// queue.
    ///
    /// If the archive is a queue, its identifier is `name`.
    init?(archive bytes: [UInt8], name: String) {
        guard var archive = try? SiftArchive(bytes) else { return nil }
        if (try? archive.list(forKey: "batches")) != nil {
            self = .uploader
        } else if (try? archive.list(forKey: "queue")) != nil, archive.hasQueueTimestamps {
            self = .queue(identifier: name)
        } else {
            return nil
        }
    }

    /// The strings that identify a file of this kind.
    ///
    /// Every nonempty file of this kind contains at least one of them.
    var identifyingStrings: [String] {
        switch self {
        case .keys: ["accountId", "beaconKey", "userId"]
        case .collector: ["lastCollectedAt"]
        case .uploader: ["batches"]
        case .queue: ["queue"]
        }
    }

    /// The kind of store, which is the uploader for all files that are not queues.
    var kind: StoreKind {
        if case .queue = self { .siftQueue } else { .siftUploader }
    }

    /// Whether the file can contain pending events.
    var canContainEvents: Bool {
        switch self {
        case .keys, .collector: false
        case .uploader, .queue: true
        }
    }

    /// Whether the SDK stores a credential in the file, so that the file must not be copied.
    var containsCredential: Bool { self == .keys }

    /// A string that occurs in every file with a credential.
    static let credentialMarker = "beaconKey"
}

/// The folder of the SDK as one store, with its files in the order in which they are read.
private struct SiftFolder: Store {
    struct File: Sendable {
        let sdkFile: SiftFile
        /// The path of the file, relative to the folder.
        let relativePath: [UInt8]
    }

    let path: String
    /// The path of the folder to which file names are relative.
    let folderPath: String
    /// The prefix of the paths of the files.
    private let pathPrefix: String
    /// The files, sorted by kind and then by name.
    let files: [File]

    init(path: String, pathPrefix: String, files: [File]) {
        self.path = path
        self.pathPrefix = pathPrefix
        folderPath = path
        self.files = files.sorted { left, right in
            let (leftRank, rightRank) = (Self.readingRank(of: left.sdkFile), Self.readingRank(of: right.sdkFile))
            return leftRank == rightRank
                ? left.relativePath.lexicographicallyPrecedes(right.relativePath) : leftRank < rightRank
        }
    }

    /// Creates a store that consists of one file in the root of the capture.
    init(single file: SiftFile, named name: String) {
        path = name
        pathPrefix = ""
        folderPath = ""
        files = [File(sdkFile: file, relativePath: Array(name.utf8))]
    }

    private static func readingRank(of file: SiftFile) -> Int {
        switch file {
        case .keys: 0
        case .collector: 1
        case .uploader: 2
        case .queue: 3
        }
    }

    let system: SystemName? = .sift
    var kind: StoreKind { parts[0].kind }
    // One job reads all files, because queues are compared with batches and every file can contain facts about the app.
    let isReadByOneJob = true
    var fileCount: Int { files.count }

    func makeReader(in context: StoreContext) -> any StoreReader { SiftReader(self, in: context) }
}

// MARK: - Files and parts

extension SiftFolder {
    /// The parts of the store, which are the uploader and each queue.
    ///
    /// If the folder contains neither, the only part represents the missing uploader.
    var parts: [StorePart] {
        let parts = files.filter { $0.sdkFile.canContainEvents }.map {
            StorePart(kind: $0.sdkFile.kind, path: path(of: $0))
        }
        return parts.isEmpty ? [StorePart(kind: .siftUploader, path: folderPath)] : parts
    }

    /// Returns the index of the part that a file belongs to, which is 0 for files without events.
    func partIndex(ofFile index: Int) -> Int {
        files[index].sdkFile.canContainEvents ? files[..<index].count { $0.sdkFile.canContainEvents } : 0
    }

    func file(at index: Int) -> StoreFile? {
        let file = files[index]
        // A copy of the file `sift` can have another name, but contains the same credential.
        let credentials: StoreFile.Credentials =
            file.sdkFile.containsCredential ? .always : .ifContaining(SiftFile.credentialMarker)
        return StoreFile(
            name: file.relativePath, path: path(of: file), kind: file.sdkFile.kind, credentials: credentials,
            sizeLimit: .keyedArchive)
    }

    private func path(of file: File) -> String { pathPrefix + String(decoding: file.relativePath, as: UTF8.self) }
}

// MARK: - Reading

/// A reader that reads all files in the folder of the SDK before it outputs records.
///
/// This order is necessary because records depend on several files.
private struct SiftReader: StoreReader {
    private let folder: SiftFolder
    /// The contents of the files, or `nil` if all files were read.
    private var store: SiftStore?
    /// The records to be output, in reverse order.
    private var records: [(part: Int, record: Record)] = []

    init(_ folder: SiftFolder, in context: StoreContext) {
        self.folder = folder
        store = SiftStore(
            applicationID: context.container.applicationID, comparesEvents: context.options.reportsQueues,
            limit: context.options.limit)
    }

    mutating func read(
        _ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput
    ) throws -> Bool {
        let part = folder.partIndex(ofFile: index)
        try store?.read(bytes, of: folder.files[index].sdkFile, part: part, from: source, into: &output)
        return false
    }

    mutating func finish(into output: inout ScanOutput) throws -> Bool {
        if let store = store.take() {
            let contents = store.finish()
            output.report(contents.report)
            records = contents.records.reversed()
        }
        if let next = records.popLast() { try output.add(next.record, part: next.part) }
        return !records.isEmpty
    }
}
