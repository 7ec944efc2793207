import Files
import Telemetry

/// Looks at one folder for stores, by layout first and by content where names can deceive.
///
/// Hidden entries are left alone, links are not followed, and special files are ignored. Source: "Mozilla telemetry-ios:
/// on-disk stores, normalized pings, upload", sections 1.1 and 1.2.
struct FolderVisit: Sendable {
    /// A store, without its container.
    struct Store: Sendable {
        let path: String
        let contents: FoundStore.Contents
    }

    /// The stores in the folder, or the folder itself.
    private(set) var stores: [Store] = []
    /// The folders in it.
    private(set) var folders: [String] = []
    /// Links that look like stores: worth a word, for what they lead to is not read.
    private(set) var links: [String] = []
    /// The path of a file that was left out although it is a store's, by its name.
    private(set) var leftOutStore: String?
    /// Files that may be stores, but could not be read to see.
    private(set) var unreadable: [(path: String, error: FileError)] = []
    /// Whose container the folder is, if it says so.
    private(set) var identifier: String?
    private let root: RootFolder
    private let path: String
    private let name: String
    private let excluded: Set<FileIdentity>
    private var reader = PingReader()
    private var buffer: [UInt8] = []

    /// - Parameters:
    ///   - path: the folder's path below the root.
    ///   - name: its name.
    ///   - excluded: files to be left out.
    init(root: RootFolder, path: String, name: String, excluded: Set<FileIdentity>) {
        self.root = root
        self.path = path
        self.name = name
        self.excluded = excluded
    }

    /// Looks at the folder.
    consuming func run() -> Result<FolderVisit, FileError> {
        do throws(FileError) {
            try visit(root.folder.folder(at: path))
            return .success(self)
        } catch {
            return .failure(error)
        }
    }

    /// The store that a single file in the folder is, nil if its name is that of none.
    mutating func singleStore(named file: String) -> FoundStore? {
        let contents: FoundStore.Contents
        if DecimalTime(pingFileName: file.utf8.span) != nil || MozillaName(folder: name) != nil {
            var pings = PingFolder(path: "", type: MozillaName.namedType(of: name))
            pings.append(Array(file.utf8), time: nil)
            contents = .pingFolder(pings)
        } else if let found = self.contents(ofFile: file, in: root.folder) {
            contents = found
        } else {
            return nil
        }
        return FoundStore(path: file, contents: contents, container: Container(path: "", identifier: nil))
    }

    private mutating func visit(_ folder: consuming Folder) throws(FileError) {
        let entries = try folder.entries()
        let device = excluded.isEmpty ? 0 : try folder.identity().device
        var files: [[UInt8]] = []
        for index in 0..<entries.count {
            let entry = entries.name(index)
            if excluded.contains(FileIdentity(device: device, inode: entries.inode(index))) {
                if isStore(entry, in: folder) {
                    leftOutStore = Self.join(path, String(decoding: entry, as: UTF8.self))
                }
                continue
            }
            if entry.first == UInt8(ascii: ".") {
                if entry.elementsEqual(ContainerFinder.metadataName.utf8) { readMetadata(in: folder) }
                continue
            }
            switch entries.kind(index) {
            case .file: files.append(entry)
            case .folder: folders.append(Self.join(path, String(decoding: entry, as: UTF8.self)))
            case .link:
                let link = String(decoding: entry, as: UTF8.self)
                if MozillaName.isOwn(link) { links.append(Self.join(path, link)) }
            case .special: break
            }
        }
        if let pings = pingFolder(of: files, in: folder) {
            stores.append(Store(path: path, contents: .pingFolder(pings)))
        } else {
            addFiles(files, of: folder)
        }
    }

    private mutating func addFiles(_ files: [[UInt8]], of folder: borrowing Folder) {
        for file in files
        where file.suffix(5).elementsEqual(".json".utf8) || file.suffix(6).elementsEqual(".plist".utf8) {
            let fileName = String(decoding: file, as: UTF8.self)
            if let contents = contents(ofFile: fileName, in: folder) {
                stores.append(Store(path: Self.join(path, fileName), contents: contents))
            }
        }
    }

    static func join(_ folder: String, _ name: String) -> String {
        folder.isEmpty ? name : "\(folder)/\(name)"
    }
}

// MARK: - Ping folders

extension FolderVisit {
    /// The pings of a folder, if it is a ping folder: the SDK names it, or its files are named as only the SDK does.
    private mutating func pingFolder(of files: [[UInt8]], in folder: borrowing Folder) -> PingFolder? {
        let isOwn = MozillaName.isOwn(name) && MozillaName(folder: name) != nil
        if !isOwn {
            let isNamedForType = MozillaName(folder: name) != nil
            let hasPing = files.contains { file in
                (isNamedForType || file.starts(with: "-t-".utf8)) && DecimalTime(pingFileName: file.span) != nil
            }
            guard hasPing else { return nil }
        }
        var pings = PingFolder(path: path, type: MozillaName.namedType(of: name))
        for file in files {
            let time = DecimalTime(pingFileName: file.span)
            // A stranger's file in a folder that is not the SDK's own is none of our business.
            if !isOwn, time == nil { continue }
            pings.append(file, time: time ?? envelopeTime(of: file, in: folder))
        }
        pings.sort()
        return pings
    }

    private mutating func envelopeTime(of file: [UInt8], in folder: borrowing Folder) -> DecimalTime? {
        // What cannot be read here is reported when it is read for its pings.
        guard (try? folder.read(file, limit: CapturedFolder.storeFileLimit, into: &buffer)) != nil else { return nil }
        return reader.orderingTime(of: buffer)
    }
}

// MARK: - Single files

extension FolderVisit {
    /// How much of a file is looked at to see whose it is.
    private static let sniffLimit = 16 << 20

    private mutating func contents(ofFile name: String, in folder: borrowing Folder) -> FoundStore.Contents? {
        guard let meaning = MozillaName(file: name, in: self.name) else { return nil }
        let isOwn = MozillaName.isOwn(name)
        switch meaning {
        case .pingFolder: return nil
        case .pingArray(let type):
            return isOwn || holds(name, in: folder, all: ["\"documentId\"", "\"uploadPath\""])
                ? .pingArray(type: type) : nil
        case .values:
            return isOwn || holds(name, in: folder, all: ["\"clientId\"", "-seq\""]) ? .values : nil
        case .pendingEvents(let type): return .pendingEvents(type: type)
        case .datedMeasurements: return .datedMeasurements
        case .preferences:
            if name == "org.mozilla.telemetry-ios-lib.plist" { return .preferences(hasPrefix: false) }
            if holds(name, in: folder, all: [StoredValues.keyPrefix]) { return .preferences(hasPrefix: true) }
            return buffer.contains(text: GroupPreferences.eventsKey) ? .groupPreferences : nil
        }
    }

    /// Whether a file is a ping or a store by itself; not what merely lies among pings, as an earlier output may.
    private mutating func isStore(_ name: [UInt8], in folder: borrowing Folder) -> Bool {
        DecimalTime(pingFileName: name.span) != nil
            || contents(ofFile: String(decoding: name, as: UTF8.self), in: folder) != nil
    }

    /// Whether a file holds some texts. One that may not be read can be anybody's, so that is told.
    private mutating func holds(_ name: String, in folder: borrowing Folder, all texts: [String]) -> Bool {
        do throws(FileError) {
            try folder.read(Array(name.utf8), limit: Self.sniffLimit, into: &buffer)
        } catch {
            if !error.isTooLarge { unreadable.append((Self.join(path, name), error)) }
            return false
        }
        return texts.allSatisfy { buffer.contains(text: $0) }
    }

    private mutating func readMetadata(in folder: borrowing Folder) {
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
