import Files
import JSONText
import Telemetry

/// Finds what pending events can borrow from the rest of their container.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 4.5.
struct BorrowedPings {
    let capture: CapturedFolder
    private var pings = PingReader()
    private var buffer: [UInt8] = []

    init(_ capture: CapturedFolder) {
        self.capture = capture
    }

    /// The newest stored ping of a type in a container, of one client if one is given.
    ///
    /// A folder's files are in the order of their times, so its newest ping is the last one that can be read.
    mutating func newest(of type: String, in container: Container, client: String?) -> BorrowedFields? {
        var newest: BorrowedFields?
        for store in capture.stores(in: container) {
            guard let found = newestPing(in: store, of: type, client: client) else { continue }
            guard let present = newest, let time = found.time, let known = present.time, time < known else {
                newest = found
                continue
            }
        }
        return newest
    }

    private mutating func newestPing(in store: FoundStore, of type: String, client: String?) -> BorrowedFields? {
        switch store.contents {
        case .pingFolder(let folder) where folder.type == type:
            guard let opened = try? capture.tree.folder(at: store.folderPath) else { return nil }
            for index in (0..<folder.count).reversed() {
                if let found = newestPing(inFile: index, of: store, opened, type: type, client: client) {
                    return found
                }
            }
            return nil
        case .pingArray(let namedType) where namedType == type:
            guard let root = try? capture.tree.folder(at: store.folderPath) else { return nil }
            return newestPing(inFile: 0, of: store, root, type: type, client: client)
        default: return nil
        }
    }

    private mutating func newestPing(
        inFile index: Int, of store: FoundStore, _ folder: borrowing TreeFolder, type: String, client: String?
    ) -> BorrowedFields? {
        let file = store.file(index)
        // A file that cannot be read is reported where its own pings are read.
        guard (try? folder.read(file.name, limit: CapturedFolder.storeFileLimit, into: &buffer)) != nil else {
            return nil
        }
        var extraction = Extraction()
        let place = store.place(of: file.path, capture: capture.label)
        if case .pingFolder = store.contents {
            pings.readPingFile(buffer, at: place, into: &extraction)
        } else {
            pings.readPingArray(buffer, at: place, into: &extraction)
        }
        let wanted = client?.lowercased()
        let found = extraction.records.last { record in
            record.type == type && record.client != nil
                && (wanted == nil || record.client?.lowercased() == wanted)
        }
        return found.flatMap { BorrowedFields($0) }
    }

    /// The client id in the preferences of a container.
    mutating func clientInPreferences(of container: Container) -> String? {
        for store in capture.stores(in: container) {
            guard case .preferences(let hasPrefix) = store.contents,
                (try? capture.tree.read(store.path, limit: CapturedFolder.storeFileLimit, into: &buffer)) != nil,
                let json = try? PropertyListFile.json(
                    of: buffer, entriesWithPrefix: hasPrefix ? StoredValues.keyPrefix : ""),
                let client = (try? StoredValues(json))?.client
            else { continue }
            return client
        }
        return nil
    }
}
