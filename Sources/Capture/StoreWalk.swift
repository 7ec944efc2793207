import Files
import Telemetry

/// Looks through a folder for stores, by layout first and by content where names can deceive.
///
/// Hidden entries are left alone, links are not followed, and special files are ignored. Source: "Mozilla telemetry-ios:
/// on-disk stores, normalized pings, upload", sections 1.1 and 1.2.
struct StoreWalk {
    private(set) var problems: [PlacedProblem] = []
    private(set) var isIncomplete = false
    private let label: String
    private let rootName: String
    private let excluded: Set<FileIdentity>
    private var stores: [(path: String, contents: FoundStore.Contents)] = []
    private var identifiers: [String: String] = [:]
    private var reader = PingReader()
    private var buffer: [UInt8] = []

    init(label: String, rootName: String, leavingOut excluded: Set<FileIdentity>) {
        self.label = label
        self.rootName = rootName
        self.excluded = excluded
    }

    /// Walks all folders below a root.
    /// - Throws: `FileError` for the root; what cannot be read below it becomes a problem.
    mutating func run(from root: borrowing Folder) throws(FileError) {
        var waiting = [""]
        try visit("", root.folder(at: ""), adding: &waiting)
        waiting.removeFirst()
        while let path = waiting.popLast() {
            do throws(FileError) {
                try visit(path, root.folder(at: path), adding: &waiting)
            } catch {
                report(path, error)
            }
        }
    }

    /// The stores with their containers, by the bytes of their paths.
    func sortedStores() -> [FoundStore] {
        let containers = ContainerFinder(identifiers: identifiers)
        return
            stores
            .map { FoundStore(path: $0.path, contents: $0.contents, container: containers.container(of: $0.path)) }
            .sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// The store that a single file is, nil if its name is that of none.
    mutating func singleStore(named name: String, in folder: borrowing Folder) -> FoundStore? {
        let contents: FoundStore.Contents
        if DecimalTime(pingFileName: name.utf8.span) != nil || MozillaName(folder: rootName) != nil {
            var pings = PingFolder(path: "", type: MozillaName.namedType(of: rootName))
            pings.append(Array(name.utf8), time: nil)
            contents = .pingFolder(pings)
        } else if let found = self.contents(ofFile: name, in: folder, named: rootName) {
            contents = found
        } else {
            return nil
        }
        return FoundStore(path: name, contents: contents, container: Container(path: "", identifier: nil))
    }

    private mutating func visit(
        _ path: String, _ folder: consuming Folder, adding waiting: inout [String]
    ) throws(FileError) {
        let entries = try folder.entries()
        let name = path.isEmpty ? rootName : CapturedFolder.lastPart(of: path)
        let device = excluded.isEmpty ? 0 : try folder.identity().device
        var files: [[UInt8]] = []
        for index in 0..<entries.count {
            let entry = entries.name(index)
            if excluded.contains(FileIdentity(device: device, inode: entries.inode(index))) { continue }
            if entry.first == UInt8(ascii: ".") {
                if entry.elementsEqual(ContainerFinder.metadataName.utf8) { readMetadata(in: folder, at: path) }
                continue
            }
            switch entries.kind(index) {
            case .file: files.append(entry)
            case .folder: waiting.append(Self.join(path, String(decoding: entry, as: UTF8.self)))
            case .link: reportLink(entry, in: path)
            case .special: break
            }
        }
        if let pings = pingFolder(named: name, files: files, in: folder, at: path) {
            stores.append((path, .pingFolder(pings)))
        } else {
            addFiles(files, of: folder, named: name, at: path)
        }
    }

    private mutating func addFiles(_ files: [[UInt8]], of folder: borrowing Folder, named name: String, at path: String)
    {
        for file in files
        where file.suffix(5).elementsEqual(".json".utf8) || file.suffix(6).elementsEqual(".plist".utf8) {
            let fileName = String(decoding: file, as: UTF8.self)
            if let contents = contents(ofFile: fileName, in: folder, named: name) {
                stores.append((Self.join(path, fileName), contents))
            }
        }
    }

    static func join(_ folder: String, _ name: String) -> String {
        folder.isEmpty ? name : "\(folder)/\(name)"
    }
}

// MARK: - Ping folders

extension StoreWalk {
    /// The pings of a folder, if it is a ping folder: the SDK names it, or its files are named as only the SDK does.
    private mutating func pingFolder(
        named name: String, files: [[UInt8]], in folder: borrowing Folder, at path: String
    ) -> PingFolder? {
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

extension StoreWalk {
    /// How much of a file is looked at to see whose it is.
    private static let sniffLimit = 16 << 20

    private mutating func contents(ofFile name: String, in folder: borrowing Folder, named folderName: String)
        -> FoundStore.Contents?
    {
        guard let meaning = MozillaName(file: name, in: folderName) else { return nil }
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
            return holds(name, in: folder, all: [GroupPreferences.eventsKey]) ? .groupPreferences : nil
        }
    }

    private mutating func holds(_ name: String, in folder: borrowing Folder, all texts: [String]) -> Bool {
        do throws(FileError) {
            try folder.read(Array(name.utf8), limit: Self.sniffLimit, into: &buffer)
        } catch {
            return false
        }
        return texts.allSatisfy { buffer.contains(text: $0) }
    }

    private mutating func readMetadata(in folder: borrowing Folder, at path: String) {
        guard (try? folder.read(Array(ContainerFinder.metadataName.utf8), limit: 1 << 20, into: &buffer)) != nil,
            let identifier = PropertyListFile.containerIdentifier(in: buffer)
        else { return }
        identifiers[path] = identifier
    }
}

// MARK: - Reports

extension StoreWalk {
    private mutating func report(_ path: String, _ error: FileError) {
        isIncomplete = true
        problems.append(
            PlacedProblem(capture: label, path: path, problem: Problem("unreadable", error.description)))
    }

    /// A link to something that looks like a store is worth a word: its pings are not read here.
    private mutating func reportLink(_ name: [UInt8], in path: String) {
        let text = String(decoding: name, as: UTF8.self)
        guard MozillaName.isOwn(text) else { return }
        problems.append(
            PlacedProblem(
                capture: label, path: Self.join(path, text),
                problem: Problem("link", "symbolic link not followed; give its target as a capture of its own")))
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
