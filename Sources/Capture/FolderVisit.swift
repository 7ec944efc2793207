import Files
import Telemetry

/// Looks at one folder for stores, by layout first and by content where names can deceive.
///
/// Hidden entries are left alone; links and special files that are named like a store, or like a file of one, are told and
/// not read. Source: "Mozilla telemetry-ios:
/// on-disk stores, normalized pings, upload", sections 1.1 and 1.2; for Sift, see `siftFolder(of:folders:in:)`.
struct FolderVisit: Sendable {
    /// A store, without its container.
    struct Store: Sendable {
        let path: String
        let contents: FoundStore.Contents
    }

    /// An archive among the files.
    enum Archive: Sendable {
        /// It can be opened as a part of the capture.
        case inCapture(String)
        /// It lies in an archive that is such a part itself.
        case inArchive(String)
        /// Something beside it has a path like those of its members.
        case ambiguous(String)
    }

    /// The stores in the folder, or the folder itself.
    private(set) var stores: [Store] = []
    /// The folders in it.
    private(set) var folders: [String] = []
    /// The archives in it, by their names.
    private(set) var archives: [Archive] = []
    /// What stands, by its name, in the place of a store or of a file of one: worth a word, for it is not read.
    var notFiles: [NotFile] = []
    /// The path of a file that was left out although it is a store's, by its name.
    var leftOutStore: String?
    /// Files that may be stores, but could not be read to see.
    var unreadable: [(path: String, error: FileError)] = []
    /// Whose container the folder is, if it says so.
    private(set) var identifier: String?
    let tree: CaptureTree
    let path: String
    /// What the paths of the entries begin with.
    let base: String
    let name: String
    let excluded: Set<FileIdentity>
    private var reader = PingReader()
    var buffer: [UInt8] = []

    /// - Parameters:
    ///   - path: the folder's path in the capture.
    ///   - name: its name.
    ///   - excluded: files to be left out.
    init(tree: CaptureTree, path: String, name: String, excluded: Set<FileIdentity>) {
        self.tree = tree
        self.path = path
        base = tree.base(of: path)
        self.name = name
        self.excluded = excluded
    }

    /// Looks at the folder.
    consuming func run() -> Result<FolderVisit, FileError> {
        do throws(FileError) {
            try visit(tree.folder(at: path))
            return .success(self)
        } catch {
            return .failure(error)
        }
    }

    /// The stores that a single file in the folder is: none if its name is that of none, two if two systems share it.
    /// - Parameter folderPath: the path of the folder as given.
    mutating func stores(named file: String, in folderPath: String) -> [FoundStore] {
        let contents: [FoundStore.Contents]
        if let known = SiftFile(name: file, inFolder: folderPath) {
            contents = [Self.single(known, named: file)]
        } else if DecimalTime(pingFileName: file.utf8.span) != nil || MozillaName(folder: name) != nil {
            var entries = FolderEntries()
            entries.append(name: file.utf8, kind: .file, inode: 0)
            var pings = PingFolder(path: "", base: "", type: MozillaName.namedType(of: name), entries: entries)
            pings.append(0, time: nil)
            pings.sort()
            contents = [.pingFolder(pings)]
        } else {
            let found = self.contents(ofFile: file, in: tree.root.folder)
            contents = found.isEmpty ? siftFile(byContents: file).map { [Self.single($0, named: file)] } ?? [] : found
        }
        return contents.map {
            FoundStore(
                path: file, contents: $0, container: Container(path: "", identifier: nil), archivePrefix: "")
        }
    }

    private mutating func visit(_ folder: consuming TreeFolder) throws(FileError) {
        let entries = try folder.entries()
        let device = excluded.isEmpty ? nil : try folder.device()
        var files = FileNames(of: entries)
        var others: [(name: [UInt8], isLink: Bool)] = []
        for index in 0..<entries.count {
            let entry = entries.name(index)
            if let device, excluded.contains(FileIdentity(device: device, inode: entries.inode(index))) {
                if isStore(entry, in: folder) {
                    leftOutStore = base + String(decoding: entry, as: UTF8.self)
                }
                continue
            }
            if entry.first == UInt8(ascii: ".") {
                if entry.elementsEqual(ContainerFinder.metadataName.utf8) { readMetadata(in: folder) }
                continue
            }
            switch entries.kind(index) {
            case .file: files.append(index)
            case .folder: folders.append(base + String(decoding: entry, as: UTF8.self))
            case .link: others.append((entry, true))
            case .special: others.append((entry, false))
            }
        }
        if let sift = siftFolder(of: files, folders: folders, in: folder) {
            stores.append(Store(path: path, contents: .sift(sift)))
            folders.removeAll { $0 == base + SiftFile.queuesName }
        } else if let pings = pingFolder(of: files, in: folder) {
            stores.append(Store(path: path, contents: .pingFolder(pings)))
        } else {
            addFiles(files, of: folder)
            addArchives(files)
        }
        for (name, isLink) in others where isNamedForStore(name) {
            notFiles.append(NotFile(path: base + String(decoding: name, as: UTF8.self), isLink: isLink))
        }
    }

    private mutating func addFiles(_ files: FileNames, of folder: borrowing TreeFolder) {
        for file in files
        where file.suffix(5).elementsEqual(".json".utf8) || file.suffix(6).elementsEqual(".plist".utf8)
            || file.first == UInt8(ascii: "_")
        {
            let fileName = String(decoding: file, as: UTF8.self)
            for contents in contents(ofFile: fileName, in: folder) {
                stores.append(Store(path: base + fileName, contents: contents))
            }
        }
        addRequestLogs(files, of: folder)
    }

    private mutating func addRequestLogs(_ files: FileNames, of folder: borrowing TreeFolder) {
        for file in files {
            let name = String(decoding: file, as: UTF8.self)
            guard RequestLogKind.isName(name) else { continue }
            do throws(FileError) {
                guard let kind = RequestLogKind(try folder.source(file), inFolderAs: name) else { continue }
                stores.append(Store(path: base + name, contents: .requestLog(kind)))
            } catch {
                unreadable.append((base + name, error))
            }
        }
    }
}

// MARK: - Archives

extension FolderVisit {
    private mutating func addArchives(_ files: FileNames) {
        let mark = UInt8(ascii: "!")
        let entries = files.entries
        let marked = (0..<entries.count).lazy.map { entries.name($0) }.filter { $0.contains(mark) }
            .sorted { $0.lexicographicallyPrecedes($1) }
        for file in files where StoreNames.isArchive(file) {
            let archive = base + String(decoding: file, as: UTF8.self)
            let prefix = file + [mark]
            // Of all names that do not come before the prefix, those that begin with it come first.
            let first = marked.indices.firstSorted { marked[$0].follows(prefix) }
            let isAmbiguous = first < marked.count && marked[first].starts(with: prefix)
            archives.append(
                tree.part(of: path) != nil
                    ? .inArchive(archive) : isAmbiguous ? .ambiguous(archive) : .inCapture(archive))
        }
    }
}

// MARK: - Ping folders

extension FolderVisit {
    /// The pings of a folder, if it is a ping folder: the SDK names it, or its files are named as only the SDK does.
    private mutating func pingFolder(of files: FileNames, in folder: borrowing TreeFolder) -> PingFolder? {
        let isOwn = MozillaName.isOwn(name) && MozillaName(folder: name) != nil
        if !isOwn {
            let isNamedForType = MozillaName(folder: name) != nil
            let hasPing = files.contains { file in
                (isNamedForType || file.starts(with: "-t-".utf8)) && DecimalTime(pingFileName: file.span) != nil
            }
            guard hasPing else { return nil }
        }
        var pings = PingFolder(
            path: path, base: base, type: MozillaName.namedType(of: name), entries: files.entries)
        for (index, file) in files.enumerated() {
            let time = DecimalTime(pingFileName: file.span)
            // A stranger's file in a folder that is not the SDK's own is none of our business.
            if !isOwn, time == nil { continue }
            pings.append(files.entry(index), time: time ?? envelopeTime(of: file, in: folder))
        }
        pings.sort()
        return pings
    }

    private mutating func envelopeTime(of file: [UInt8], in folder: borrowing TreeFolder) -> DecimalTime? {
        // What cannot be read here is reported when it is read for its pings.
        guard (try? folder.read(file, limit: CapturedFolder.storeFileLimit, into: &buffer)) != nil else { return nil }
        return reader.orderingTime(of: buffer)
    }
}

// MARK: - Single files

extension FolderVisit {
    /// The most bytes of a file that is looked at to see whose it is.
    static let sniffLimit = CapturedFolder.storeFileLimit

    /// What stores a file is: mostly none or one, but the preferences of an app belong to all systems.
    private mutating func contents(ofFile name: String, in folder: borrowing TreeFolder) -> [FoundStore.Contents] {
        switch LeanplumName(file: name) {
        case .database?: return [.leanplumDatabase]
        case .requests(let applicationID)?: return [.leanplumRequests(applicationID: applicationID)]
        case nil: break
        }
        guard let meaning = MozillaName(file: name, in: self.name) else { return [] }
        let isOwn = MozillaName.isOwn(name)
        switch meaning {
        case .pingFolder: return []
        case .pingArray(let type):
            return isOwn || holds(name, in: folder, all: ["\"documentId\"", "\"uploadPath\""])
                ? [.pingArray(type: type)] : []
        case .values:
            return isOwn || holds(name, in: folder, all: ["\"clientId\"", "-seq\""]) ? [.values] : []
        case .pendingEvents(let type): return [.pendingEvents(type: type)]
        case .datedMeasurements: return [.datedMeasurements]
        case .preferences:
            return name == "org.mozilla.telemetry-ios-lib.plist"
                ? [.preferences(hasPrefix: false)] : contents(ofPreferences: name, in: folder)
        }
    }

    private mutating func contents(ofPreferences name: String, in folder: borrowing TreeFolder) -> [FoundStore.Contents]
    {
        var found: [FoundStore.Contents] = []
        if holds(name, in: folder, all: [StoredValues.keyPrefix]) {
            found.append(.preferences(hasPrefix: true))
        } else if buffer.contains(text: GroupPreferences.eventsKey) {
            found.append(.groupPreferences)
        }
        if buffer.contains(text: LeanplumDefaults.keyPrefix) { found.append(.leanplumPreferences) }
        return found
    }

    /// Whether a file is a ping or a store by itself; not what merely lies among pings, as an earlier output may.
    private mutating func isStore(_ name: [UInt8], in folder: borrowing TreeFolder) -> Bool {
        DecimalTime(pingFileName: name.span) != nil
            || !contents(ofFile: String(decoding: name, as: UTF8.self), in: folder).isEmpty
            || isRequestLog(name, in: folder)
    }

    private func isRequestLog(_ name: [UInt8], in folder: borrowing TreeFolder) -> Bool {
        let text = String(decoding: name, as: UTF8.self)
        guard RequestLogKind.isName(text), let source = try? folder.source(name) else { return false }
        return RequestLogKind(source, inFolderAs: text) != nil
    }

    /// Whether a file holds some texts. One that may not be read can be anybody's, so that is told.
    private mutating func holds(_ name: String, in folder: borrowing TreeFolder, all texts: [String]) -> Bool {
        do throws(FileError) {
            try folder.read(Array(name.utf8), limit: Self.sniffLimit, into: &buffer)
        } catch {
            // A stranger's file may be large; preferences are not, and what is in these would be missed.
            if !error.isTooLarge || name.hasSuffix(".plist") { unreadable.append((base + name, error)) }
            buffer.removeAll(keepingCapacity: true)
            return false
        }
        return texts.allSatisfy { buffer.contains(text: $0) }
    }

    private mutating func readMetadata(in folder: borrowing TreeFolder) {
        guard (try? folder.read(Array(ContainerFinder.metadataName.utf8), limit: 1 << 20, into: &buffer)) != nil,
            let found = PropertyListFile.containerIdentifier(in: buffer)
        else { return }
        identifier = found
    }
}

extension [UInt8] {
    /// Whether an ASCII text occurs in the bytes.
    func contains(text: String) -> Bool {
        let pattern = Array(text.utf8)
        guard let first = pattern.first, count >= pattern.count else { return false }
        let last = count - pattern.count
        var index = 0
        while index <= last {
            if self[index] == first, self[index..<index + pattern.count].elementsEqual(pattern) { return true }
            index += 1
        }
        return false
    }
}
