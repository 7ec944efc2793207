import Files
import PropertyList
import Telemetry

/// Finds the pings, in the other stores of a container, of which pending events can borrow fields.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 4.5.
struct BorrowedPings: Sendable {
    private let context: StoreContext
    private var bytes: [UInt8] = []

    init(in context: StoreContext) {
        self.context = context
    }

    /// The newest stored ping of a type, of one client if one is given.
    mutating func newest(of type: String, client: String?) -> BorrowedFields? {
        var newest: BorrowedFields?
        for store in context.neighbors {
            guard let found = newestPing(in: store, of: type, client: client) else { continue }
            guard let present = newest, let time = found.time, let known = present.time, time < known else {
                newest = found
                continue
            }
        }
        return newest
    }

    private mutating func newestPing(in store: any Store, of type: String, client: String?) -> BorrowedFields? {
        if let folder = store as? PingFolder, folder.type == type {
            return newestPing(in: folder, client: client)
        }
        if let file = store as? MozillaFile, case .pingArray(type) = file.contents {
            return newestPing(in: file, type: type, client: client)
        }
        return nil
    }

    /// A folder's files are in the order of their times, so its newest ping is the last one that can be read.
    private mutating func newestPing(in store: PingFolder, client: String?) -> BorrowedFields? {
        // A store that cannot be read is reported by its own scan.
        guard let folder = try? context.tree.folder(at: store.folderPath) else { return nil }
        var pings = PingReader(at: store.place(in: context))
        var name: [UInt8] = []
        for index in (0..<store.fileCount).reversed() {
            let path = store.path(ofFile: index, name: &name)
            // A file that cannot be read is reported where its own pings are read.
            guard (try? folder.read(name, limit: StoreLimits.file, into: &bytes)) != nil else { continue }
            var found = ScanOutput(capture: context.capture, path: path)
            pings.read(bytes, file: index, into: &found)
            if let fields = fields(ofLast: found.records, type: store.type, client: client) { return fields }
        }
        return nil
    }

    private mutating func newestPing(in file: MozillaFile, type: String, client: String?) -> BorrowedFields? {
        // A store that cannot be read is reported by its own scan.
        guard (try? file.read(in: context, into: &bytes)) != nil else { return nil }
        var found = ScanOutput(capture: context.capture, path: file.path)
        var pings = PingReader(at: file.place(in: context))
        pings.readPingArray(bytes, into: &found)
        return fields(ofLast: found.records, type: type, client: client)
    }

    private func fields(ofLast records: [Record], type: String, client: String?) -> BorrowedFields? {
        let wanted = client?.lowercased()
        let found = records.last { record in
            record.type == type && record.client != nil && (wanted == nil || record.client?.lowercased() == wanted)
        }
        return found.flatMap { BorrowedFields($0) }
    }

    mutating func clientInPreferences() -> String? {
        for store in context.neighbors {
            // Preferences that cannot be read are reported by their own scan.
            guard let file = store as? MozillaFile, case .preferences(let hasPrefix) = file.contents,
                (try? file.read(in: context, into: &bytes)) != nil,
                let document = try? PropertyListDocument(bytes),
                let json = try? PreferencesJSON.entries(
                    of: document, withPrefix: hasPrefix ? StoredValues.keyPrefix : ""),
                let client = (try? StoredValues(json))?.client
            else { continue }
            return client
        }
        return nil
    }
}
