import Bytes
import Files
import JSONText
import PropertyList
import Telemetry

/// A search for stores in one folder.
///
/// Hidden entries are skipped. Links are not followed, but are reported if they can be in the place of a store or of a
/// folder with stores. Pipes, sockets and devices are never opened, and all of them are reported. Formats are tried in the reverse of their order in `SystemTable`.
struct FolderSearch: Sendable {
    enum Archive: Sendable {
        /// An archive that can be opened as part of the capture.
        case inCapture(String)
        /// An archive inside another archive, which is not opened.
        case inArchive(String)
        /// An archive next to an entry whose path looks like the path of a member of the archive.
        case ambiguous(String)
    }

    /// The stores in the folder, or the single store that consists of the whole folder.
    private(set) var stores: [any Store] = []
    private(set) var folders: [String] = []
    private(set) var archives: [Archive] = []
    /// The files of formats that are not read, although they may contain telemetry.
    private(set) var unreadFiles: [(path: String, format: UnreadFormat)] = []
    /// The skipped links and special files.
    ///
    /// A skipped entry can be in the place of a file or folder that contains records.
    private(set) var skippedEntries = SkippedEntries()
    /// The path of an excluded file that belongs to a store, or `nil` if there is none.
    private(set) var excludedStore: String?
    /// The unreadable files that may be stores or identify the owner of a container, and their errors.
    private(set) var unreadableFiles: [(path: String, error: FileError)] = []
    /// The other problems with entries, as reported by store formats.
    private(set) var problems: [(path: String, problem: Problem)] = []
    /// The identifier of the container's owner, or `nil` if the folder is not a container with metadata.
    private(set) var ownerIdentifier: String?
    /// The path and the owner of a container that Xcode packed, or `nil` if the folder contains no such container.
    private(set) var packedContainer: (path: String, identifier: String)?
    /// The property lists with a setting for usage data.
    private(set) var usageDataFiles: [UsageDataFile] = []
    /// The containers and the queues of other SDKs that were found by their names, if the inventory is requested.
    private(set) var inventory = InventoryFindings()
    /// Whether the folder is a backup, so that its entries were not searched.
    private(set) var isBackup = false
    private let tree: FileTree
    private let path: String
    /// The path prefix of all entries: the path of the folder and a slash.
    private let pathPrefix: String
    private let name: String
    private let excluded: Set<FileIdentity>
    private let formats: [any StoreFormat]
    /// The detector of backups, or `nil` if the folder cannot be a backup.
    private let backupDetector: BackupDetector?
    private let listsInventory: Bool

    init(
        tree: FileTree, path: String, name: String, excluded: Set<FileIdentity>, formats: [any StoreFormat],
        backupDetector: BackupDetector? = nil, listsInventory: Bool = false
    ) {
        self.backupDetector = backupDetector
        self.listsInventory = listsInventory
        self.tree = tree
        self.path = path
        pathPrefix = tree.entryPathPrefix(ofFolder: path)
        self.name = name
        self.excluded = excluded
        self.formats = formats.reversed()
    }

    consuming func run() -> Result<FolderSearch, FileError> {
        do throws(FileError) {
            try search()
            return .success(self)
        } catch {
            return .failure(error)
        }
    }

    /// The entries of the folder, grouped by kind.
    private struct Entries {
        var files: [[UInt8]] = []
        var folders: [[UInt8]] = []
        var excludedFiles: [[UInt8]] = []
        var linksAndSpecialFiles: [(name: [UInt8], isLink: Bool)] = []
        /// The sorted names that contain an exclamation mark, and therefore may look like paths in an archive.
        var namesWithExclamationMark: [[UInt8]] = []
        var manifests: [[UInt8]] = []
        /// The names of the files that are stored only in iCloud.
        var namesInCloud: [[UInt8]] = []
    }

    private mutating func search() throws(FileError) {
        let folder = try tree.folder(at: path)
        let entries = try sortedEntries(of: folder)
        if !entries.manifests.isEmpty, let backupDetector {
            addFoldersNamedAsPropertyLists(entries.folders)
            if backupDetector.isBackup(folder, manifests: entries.manifests) {
                addSpecialFilesOfBackup(entries.linksAndSpecialFiles)
                isBackup = true
                return
            }
        }
        if entries.manifests.isEmpty { addUnreadableBackup(entries) }
        var inspected = inspect(entries.files, entries.folders, in: folder)
        let folderStore = store(ofFolder: &inspected)
        var rest = entries
        if let folderStore {
            stores.append(folderStore)
            rest.files = inspected.otherFiles
        } else if listsInventory {
            addToInventory(entries)
        }
        let others = addFiles(rest, in: &inspected)
        addAlteredNames(others, among: entries.files, in: folderStore)
        folders = entries.folders.filter { !inspected.claimedFolders.contains($0) }.map { inspected.path(of: $0) }
        unreadableFiles += inspected.unreadable
        problems += inspected.problems
        addFilesInCloud(entries.namesInCloud, in: folderStore)
        addLinksAndSpecialFiles(entries.linksAndSpecialFiles, in: folderStore)
        for found in inspected.skippedEntries { skippedEntries.add(addingTarget(to: found)) }
        excludedStore = inspected.excludedStorePath
        if !entries.excludedFiles.isEmpty { try findExcludedStore(entries) }
    }

    /// Adds the stores and archives among the files that do not belong to a store that the folder is.
    ///
    /// Returns the files that are no stores.
    private mutating func addFiles(_ entries: Entries, in inspected: inout InspectedFolder) -> [[UInt8]] {
        var others: [[UInt8]] = []
        for file in entries.files {
            let found = stores(ofFile: file, in: &inspected)
            if found.isEmpty { others.append(file) }
            stores += found
            usageDataFiles += [usageDataFile(named: file)].compactMap(\.self)
        }
        addArchives(entries)
        addUnnamedArchives(others, entries, in: inspected)
        RequestLogFormat.removeAttachedBodies(from: &stores)
        addUnreadNames(others, entries, in: inspected)
        return others
    }

    private mutating func sortedEntries(of folder: borrowing Folder) throws(FileError) -> Entries {
        let device = excluded.isEmpty ? nil : try folder.device()
        var entries = Entries()
        for entry in try folder.entries() {
            let name = entry.name
            if name.contains(UInt8(ascii: "!")) { entries.namesWithExclamationMark.append(name) }
            if let device, excluded.contains(FileIdentity(device: device, inode: entry.inode)) {
                entries.excludedFiles.append(name)
                continue
            }
            if entry.kind == .special {
                entries.linksAndSpecialFiles.append((name, false))
                continue
            }
            if name.first == UInt8(ascii: ".") {
                if entry.isNamed(ContainerFinder.metadataName) {
                    ownerIdentifier =
                        text("MCMMetadataIdentifier", in: ContainerFinder.metadataName, of: folder) ?? ownerIdentifier
                } else if entry.kind == .file, let name = MemberNames.nameInCloud(ofPlaceholder: name) {
                    entries.namesInCloud.append(name)
                }
                continue
            }
            switch entry.kind {
            case .file:
                if FolderEntry.isWindowsMetadata(name) { continue }
                entries.files.append(name)
                if BackupDetector.isManifest(name) { entries.manifests.append(name) }
                if entry.isNamed(ContainerFinder.packageInfoName) { readPackageInfo(in: folder) }
            // As in an archive, these are the resource forks of the files that macOS packed.
            case .folder: if !path.isEmpty || !entry.isNamed("__MACOSX") { entries.folders.append(name) }
            case .link: entries.linksAndSpecialFiles.append((name, true))
            case .special: break
            }
        }
        entries.namesWithExclamationMark.sort { $0.lexicographicallyPrecedes($1) }
        return entries
    }

    private mutating func addToInventory(_ entries: Entries) {
        if ContainerFinder.isContainer(path, subfolders: entries.folders) {
            inventory.addContainer(prefix: pathPrefix)
        }
        inventory.addQueues(among: entries.files, areFolders: false, inFolder: name, prefix: pathPrefix)
        inventory.addQueues(among: entries.folders, areFolders: true, inFolder: name, prefix: pathPrefix)
    }

    private func inspect(_ files: [[UInt8]], _ folders: [[UInt8]], in folder: consuming Folder) -> InspectedFolder {
        InspectedFolder(
            folder, path: path, name: name, base: pathPrefix, files: files, folders: folders, tree: tree,
            excluded: excluded)
    }

    private func store(ofFolder inspected: inout InspectedFolder) -> (any Store)? {
        for format in formats {
            if let store = format.store(ofFolder: &inspected) { return store }
        }
        return nil
    }

    private func stores(ofFile name: [UInt8], in inspected: inout InspectedFolder) -> [any Store] {
        let name = String(decoding: name, as: UTF8.self)
        return Self.stores(formats) { format in format.stores(ofFile: name, in: &inspected) }
    }

    /// Returns the stores in a file, using `ask` to get the finding of each format.
    private static func stores(_ formats: [any StoreFormat], _ ask: (any StoreFormat) -> FileFinding) -> [any Store] {
        var shared: [any Store] = []
        for format in formats {
            switch ask(format) {
            case .unrelated: continue
            case .exclusive(let stores): return stores
            // Formats are asked from specific to general, but their stores are listed in the reverse order.
            case .shared(let stores): shared = stores + shared
            }
        }
        return shared
    }

    private mutating func addLinksAndSpecialFiles(
        _ linksAndSpecialFiles: [(name: [UInt8], isLink: Bool)], in folderStore: (any Store)?
    ) {
        let rule = LinkRule(formats: formats, rootName: name)
        // Entries about which a format has reported a problem are not reported again.
        let reported = Set(problems.map { CapturedText($0.path) })
        for (name, isLink) in linksAndSpecialFiles {
            let path = pathPrefix + String(decoding: name, as: UTF8.self)
            if reported.contains(path) { continue }
            let target = isLink ? tree.target(ofLink: name, inFolder: self.path) : nil
            let found = SkippedEntry(path: path, isLink: isLink, target: target)
            if !isLink || isNamedForStore(name, in: folderStore) || rule.mayHideRecords(found) {
                skippedEntries.add(found)
            }
        }
    }

    private func addingTarget(to found: SkippedEntry) -> SkippedEntry {
        guard found.isLink, let folder = Path.parent(of: found.path) else { return found }
        let target = tree.target(ofLink: Array(Path.name(of: found.path).utf8), inFolder: folder)
        return SkippedEntry(path: found.path, isLink: true, target: target)
    }

    private func isNamedForStore(_ name: [UInt8], in store: (any Store)?) -> Bool {
        let text = String(decoding: name, as: UTF8.self)
        return formats.contains { $0.isNamedForStore(text, in: store) }
    }

    /// Sets `excludedStore` if an excluded file is a store, or is part of a store that consists of the whole folder.
    ///
    /// Other excluded files are ignored, such as an earlier output in a folder of pings.
    private mutating func findExcludedStore(_ entries: Entries) throws(FileError) {
        let files = entries.files + entries.excludedFiles
        var inspected = inspect(files, entries.folders, in: try tree.folder(at: path))
        let folderStore = store(ofFolder: &inspected)
        for name in entries.excludedFiles
        where isNamedForStore(name, in: folderStore) || !stores(ofFile: name, in: &inspected).isEmpty {
            excludedStore = inspected.path(of: name)
        }
    }

    private mutating func readPackageInfo(in folder: borrowing Folder) {
        if let ownerIdentifier = text("CFBundleIdentifier", in: ContainerFinder.packageInfoName, of: folder) {
            packedContainer = (pathPrefix + ContainerFinder.packedFolderName, ownerIdentifier)
        }
    }

    /// Returns the string for `key` in the property list `name`, or `nil` if there is none.
    ///
    /// A file that cannot be read is reported.
    private mutating func text(_ key: JSONKey, in name: String, of folder: borrowing Folder) -> String? {
        var bytes: [UInt8] = []
        do throws(FileError) {
            try folder.read(Array(name.utf8), limit: InputLimits.containerMetadataSize, into: &bytes)
        } catch {
            if error.isReadFailure { unreadableFiles.append((pathPrefix + name, error)) }
            return nil
        }
        guard let document = try? PropertyListDocument(bytes), let found = document.value(of: key, in: document.root),
            document.kind(of: found) == .text
        else { return nil }
        return document.string(of: found)
    }
}

// MARK: - Backups

extension FolderSearch {
    /// Reports the folders that have the name of a property list of a backup.
    private mutating func addFoldersNamedAsPropertyLists(_ folders: [[UInt8]]) {
        for name in folders where BackupDetector.isPropertyList(name) {
            let problem = Problem("special", "B31 a folder in the place of a property list of a backup")
            problems.append((pathPrefix + String(decoding: name, as: UTF8.self), problem))
        }
    }

    /// Reports the special files next to the manifest of a backup.
    ///
    /// A special file in the place of a backed-up file is omitted, because it is reported at the path of that file.
    private mutating func addSpecialFilesOfBackup(_ linksAndSpecialFiles: [(name: [UInt8], isLink: Bool)]) {
        for (name, isLink) in linksAndSpecialFiles where !isLink && !BackupDetector.isBackupFileName(name) {
            skippedEntries.add(
                SkippedEntry(path: pathPrefix + String(decoding: name, as: UTF8.self), isLink: false))
        }
    }
}

extension FolderSearch {
    /// Reports a backup that cannot be read because it has no manifest, or because it is too old.
    private mutating func addUnreadableBackup(_ entries: Entries) {
        let oldSuffixes = [".mdinfo", ".mdbackup"]
        let words: String
        if entries.files.contains(where: { oldSuffixes.contains(where: $0.hasSuffixIgnoringCase) }) {
            words = """
                not read: a backup of iOS 3 or older, which consists of .mdinfo and .mddata files, or of .mdbackup files
                """
        } else if entries.files.contains(where: { BackupDetector.isPropertyList($0) }),
            entries.files.contains(where: { BackupDetector.isBackupFileName($0) })
                || entries.folders.contains(where: { $0.count == 2 && $0.allSatisfy { $0.hexadecimalValue != nil } })
        {
            words = """
                B33 not read: the backup has no manifest (\(BackupDetector.databaseName) or \
                \(BackupDetector.binaryManifestName)), which names its files; copy the whole folder of the backup again
                """
        } else {
            return
        }
        problems.append((path, Problem("unreadable", words)))
    }
}

// MARK: - Altered names

extension FolderSearch {
    /// Reports the files whose names were made from those of stores, and the folder if its own name was.
    ///
    /// `files` are no stores. Archives, request logs, and files that a person writes about a store, are no copies of it.
    private mutating func addAlteredNames(
        _ files: [[UInt8]], among all: [[UInt8]], in folderStore: (any Store)?
    ) {
        let files = files.filter { file in
            guard AlteredName.isPathOfStore(file, inFolderAt: path, named: name, formats) else { return true }
            unreadFiles.append((pathPrefix + String(decoding: file, as: UTF8.self), .pathInName))
            return false
        }
        let prefixes = formats.flatMap { $0.namePrefixes(in: folderStore) }
        let altered = files.filter { file in
            AlteredName.isAltered(file, fromNameWithPrefixIn: prefixes)
                && !ArchiveFormat.mayBeArchive(named: file) && !ArchiveFormat.mayBeUnread(named: file)
                && !AlteredName.ignoredSuffixes.contains(where: file.hasSuffixIgnoringCase)
        }
        let originals = altered.isEmpty ? [] : Set(all).subtracting(files)
        for file in altered {
            let hasOriginal = originals.contains { AlteredName.isCopy(file, of: $0) }
            let path = pathPrefix + String(decoding: file, as: UTF8.self)
            unreadFiles.append((path, hasOriginal ? .spareCopy : .alteredName))
        }
        if stores.isEmpty, !files.isEmpty,
            AlteredName.isAltered(Array(name.utf8), fromNameWithPrefixIn: prefixes)
        {
            unreadFiles.append((path, .alteredName))
        }
    }
}

// MARK: - Files in iCloud

extension FolderSearch {
    /// Reports the files that may belong to stores, but are stored only in iCloud.
    private mutating func addFilesInCloud(_ names: [[UInt8]], in folderStore: (any Store)?) {
        guard !names.isEmpty else { return }
        let folders = Path.parts(of: path)
        let wanted = names.sorted { $0.lexicographicallyPrecedes($1) }.filter { name in
            let member = MemberName(name: String(decoding: name, as: UTF8.self), folders: folders, rootName: self.name)
            return isNamedForStore(name, in: folderStore) || ArchiveFormat.mayBeArchive(named: name)
                || ArchiveFormat.mayBeUnread(named: name)
                || formats.contains { $0.mayBelongToStore(member) }
        }
        for name in wanted.prefix(InputLimits.reportedCloudFileCount) {
            let words =
                "not downloaded from iCloud: only a placeholder is here; download the file, and copy the folder again"
            problems.append((pathPrefix + String(decoding: name, as: UTF8.self), Problem("unreadable", words)))
        }
        let others = wanted.count - InputLimits.reportedCloudFileCount
        guard others > 0 else { return }
        problems.append((path, Problem("unreadable", "and \(others.counted("more file")) not downloaded from iCloud")))
    }
}

// MARK: - Usage data

extension FolderSearch {
    /// Returns the property list called `name` if it contains a setting for usage data, judged by its name.
    func usageDataFile(named name: [UInt8]) -> UsageDataFile? {
        guard name.suffix(Self.propertyListSuffix.count) == Self.propertyListSuffix[...] else { return nil }
        let settings = formats.flatMap(\.usageDataSettings)
        return settings.first { name.elementsEqual($0.fileName.utf8) }.map {
            UsageDataFile(setting: $0, path: pathPrefix + $0.fileName, folderPath: path)
        }
    }

    private static let propertyListSuffix = Array(".plist".utf8)
}

// MARK: - Archives

extension FolderSearch {
    private mutating func addArchives(_ entries: Entries) {
        for file in entries.files where ArchiveFormat.isArchive(named: file) { addArchive(file, entries) }
    }

    private mutating func addArchive(_ file: [UInt8], _ entries: Entries) {
        let archive = pathPrefix + String(decoding: file, as: UTF8.self)
        let prefix = file + [UInt8(ascii: "!")]
        // If any name begins with the prefix, so does the first name that is not sorted before the prefix.
        let names = entries.namesWithExclamationMark
        let first = names.indices.partitioningIndex { names[$0].lexicographicallyFollowsOrEquals(prefix) }
        let isAmbiguous = first < names.count && names[first].starts(with: prefix)
        archives.append(
            tree.part(of: path) != nil ? .inArchive(archive) : isAmbiguous ? .ambiguous(archive) : .inCapture(archive))
    }

    /// Adds the archives and request logs among `files` whose names do not identify them, and the files of formats that are
    /// not read.
    ///
    /// The first bytes of a file are inspected if its suffix is known, or if the file is outside of the containers of apps.
    private mutating func addUnnamedArchives(
        _ files: [[UInt8]], _ entries: Entries, in folder: borrowing InspectedFolder
    ) {
        let isInContainer = MemberNames.isInContainer(Path.parts(of: path))
        let others = files.filter { !ArchiveFormat.isArchive(named: $0) }
        let isNamed = { (file: [UInt8]) in
            ArchiveFormat.mayBeArchive(named: file) || ArchiveFormat.mayBeUnread(named: file)
        }
        var guessed: [[UInt8]] = []
        if !isInContainer {
            guessed = others.filter { !isNamed($0) && ArchiveFormat.mustBeInspected(named: $0) }
            guessed.sort { $0.lexicographicallyPrecedes($1) }
        }
        for file in others.filter(isNamed) { addUnnamedArchive(file, entries, isNamed: true, in: folder) }
        for file in guessed.prefix(InputLimits.guessedArchiveCount) {
            addUnnamedArchive(file, entries, isNamed: false, in: folder)
        }
    }

    private var requestLogFormat: RequestLogFormat? { formats.lazy.compactMap { $0 as? RequestLogFormat }.first }

    /// Adds the files and folders that are not read because of a compression or a missing part, judged by their names.
    private mutating func addUnreadNames(_ files: [[UInt8]], _ entries: Entries, in folder: borrowing InspectedFolder) {
        var unread = entries.folders.filter { $0.hasSuffixIgnoringCase(".sparsebundle") }.map {
            ($0, UnreadFormat.diskImage)
        }
        let logs = files.filter(RequestLogKind.isNameOfUnreadLog)
        if !logs.isEmpty {
            let readPaths = Set(stores.map { CapturedText($0.path) })
            unread += logs.filter { !readPaths.contains(CapturedText(folder.path(of: $0))) }.map {
                ($0, .compressedLog)
            }
        }
        let parts = files.filter(ArchiveLocation.isLaterPart)
        if !parts.isEmpty {
            let names = Set(entries.files)
            unread += parts.filter { names.isDisjoint(with: ArchiveLocation.mainParts(besidePart: $0)) }.map {
                ($0, .laterPart)
            }
        }
        unreadFiles += unread.map { (folder.path(of: $0), $1) }
    }

    private mutating func addUnnamedArchive(
        _ file: [UInt8], _ entries: Entries, isNamed: Bool, in folder: borrowing InspectedFolder
    ) {
        // A file that cannot be read is reported only if it has the name of a store.
        guard let source = try? folder.source(file),
            var head = try? source.bytes(at: 0, count: min(source.count, isNamed ? ArchiveFormat.headSize : 4096))
        else { return }
        if Compression(head: head) != nil, let more = try? InputKind.head(of: source) { head = more }
        let isFirstPart = file.hasSuffixIgnoringCase(ArchiveFormat.splitSuffix)
        if UnreadFormat.isDiskImage(source) {
            unreadFiles.append((folder.path(of: file), .diskImage))
        } else if isFirstPart, ArchiveFormat.isArchive(head) {
            unreadFiles.append((folder.path(of: file), .splitArchive))
        } else if ArchiveFormat.isReadable(head) {
            addArchive(file, entries)
        } else if let format = UnreadFormat(head: head, isNamedForArchive: isNamed) {
            unreadFiles.append((folder.path(of: file), format))
        } else if isNamed, !head.isEmpty, let format = UnreadFormat(path: folder.path(of: file)) {
            unreadFiles.append((folder.path(of: file), format))
        } else if !isNamed, let log = requestLogFormat?.store(named: file, source, in: folder) {
            stores.append(log)
        }
    }
}

// MARK: - Single files

extension FolderSearch {
    /// Returns the stores in a single file, which are identified by its name, its contents and `folderPath`.
    ///
    /// The result is empty if the file is not a store. It has several elements if systems share the file.
    func stores(ofSingleFile file: String, inFolderAt folderPath: String) throws(FileError) -> [any Store] {
        var inspected = inspect([Array(file.utf8)], [], in: try tree.folder(at: path))
        let known = Self.stores(formats) { format in
            format.stores(ofSingleFile: file, inFolderAt: folderPath, &inspected)
        }
        guard known.isEmpty else { return known }
        for format in formats {
            if let store = format.store(byContentsOf: file, in: &inspected) { return [store] }
        }
        return []
    }
}

// MARK: - Links and other skipped entries

/// A rule for reporting symbolic links that may lead to records that are not read otherwise.
private struct LinkRule {
    let formats: [any StoreFormat]
    let rootName: String

    /// Returns whether a link without the name of a store may lead to records that are not read otherwise.
    ///
    /// A link to a folder may lead to records, because folder names may identify a store. A file inside the capture is
    /// read at its own path, so that a link to the file matters only if the file has the name of a store. A file
    /// outside of the capture is judged by its path and by the path of the link, like a member of an archive.
    func mayHideRecords(_ link: SkippedEntry) -> Bool {
        guard let target = link.target else { return false }
        switch target.destination {
        case .folder: return true
        case .unknown: return !target.path.isEmpty
        case .enclosingFolder, .missing: return false
        case .file: return isNamedForStore(target.path)
        case .fileOutside: return isNamedForStore(target.path) || mayBeStore(link.path) || mayBeStore(target.path)
        }
    }

    private func isNamedForStore(_ path: String) -> Bool {
        StoreNames(formats: formats).isStoreName(Path.lastName(of: path))
    }

    /// Returns whether a file at `path` may be a store or an archive, judged by its name.
    private func mayBeStore(_ path: String) -> Bool {
        let parts = Path.parts(of: path)
        guard let name = parts.last else { return false }
        let member = MemberName(name: name, folders: parts.dropLast(), rootName: rootName)
        return ArchiveFormat.isArchive(named: name.utf8) || formats.contains { $0.mayBelongToStore(member) }
    }
}

/// The links and special files that are reported.
///
/// There may be millions of entries. Therefore, only the first entries in the order of their paths are kept, and the
/// other entries are counted. The result does not depend on the order in which entries are added.
struct SkippedEntries: Sendable {
    var reportedEntries: [SkippedEntry] {
        var sorted = keptEntries
        Self.sort(&sorted)
        return Array(sorted.prefix(InputLimits.reportedSkippedEntryCount))
    }
    var unreportedCount: Int { droppedCount + max(0, keptEntries.count - InputLimits.reportedSkippedEntryCount) }

    private var keptEntries: [SkippedEntry] = []
    private var droppedCount = 0

    mutating func add(_ found: SkippedEntry) {
        keptEntries.append(found)
        guard keptEntries.count >= 2 * InputLimits.reportedSkippedEntryCount else { return }
        Self.sort(&keptEntries)
        droppedCount += keptEntries.count - InputLimits.reportedSkippedEntryCount
        keptEntries.removeLast(keptEntries.count - InputLimits.reportedSkippedEntryCount)
    }

    mutating func add(_ others: SkippedEntries) {
        for found in others.keptEntries { add(found) }
        droppedCount += others.droppedCount
    }

    private static func sort(_ found: inout [SkippedEntry]) {
        found.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
}
