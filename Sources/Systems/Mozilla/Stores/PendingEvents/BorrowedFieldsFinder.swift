import Files
import PropertyList
import Telemetry

/// A search for the stored ping from which pending events copy missing fields, such as the client id.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 4.5.
struct BorrowedFieldsFinder: Sendable {
    private let context: StoreContext
    private var fileBuffer: [UInt8] = []

    init(in context: StoreContext) { self.context = context }

    /// Returns the fields of the newest stored ping of the type `type`, or `nil` if there is no such ping with a client
    /// id.
    ///
    /// Unless `client` is `nil`, only pings of the client `client` are considered.
    mutating func newestFields(ofType type: String, client: String?) -> BorrowedFields? {
        // A container can have many files of events, and many stores of pings.
        let name = "mozilla-borrowed-fields \(type.utf8.count) \(type) \(client.map { "of \($0)" } ?? "")"
        return context.neighbors.fact(named: name) {
            var newest: BorrowedFields?
            for index in pingStores[Array(type.utf8)] ?? [] {
                guard let found = newestFields(in: context.neighbors[index], ofType: type, client: client) else {
                    continue
                }
                if let time = found.time, let known = newest?.time, time < known { continue }
                newest = found
            }
            return newest
        }
    }

    /// The indices of the stores of pings among the stores of the container, by the type of the pings.
    private var pingStores: [[UInt8]: [Int]] {
        context.neighbors.fact(named: "mozilla-ping-stores") {
            var indices: [[UInt8]: [Int]] = [:]
            for (index, store) in zip(context.neighbors.indices, context.neighbors) {
                if let folder = store as? PingFolder {
                    indices[Array(folder.pingType.utf8), default: []].append(index)
                } else if let file = store as? MozillaFile, case .pingArray(let type) = file.contents {
                    indices[Array(type.utf8), default: []].append(index)
                }
            }
            return indices
        }
    }

    private mutating func newestFields(in store: any Store, ofType type: String, client: String?) -> BorrowedFields? {
        if let folder = store as? PingFolder { return newestFields(in: folder, client: client) }
        if let file = store as? MozillaFile { return newestFields(in: file, ofType: type, client: client) }
        return nil
    }

    private mutating func newestFields(in store: PingFolder, client: String?) -> BorrowedFields? {
        // A folder that cannot be read is reported by its own scan.
        guard let folder = try? context.tree.folder(at: store.folderPath) else { return nil }
        var pings = PingReader(from: store.origin(in: context))
        var name: [UInt8] = []
        // The files are sorted by time, so the last one that can be read contains the newest ping.
        for index in (0..<store.fileCount).reversed() {
            let path = store.path(ofFile: index, name: &name)
            // A file that cannot be read is reported by its own scan.
            guard (try? folder.read(name, limit: StoreLimits.file, into: &fileBuffer)) != nil else { continue }
            var found = ScanOutput(capture: context.capture, path: path)
            pings.read(fileBuffer, file: index, into: &found)
            if let fields = fields(ofLast: found.records, type: store.pingType, client: client) { return fields }
        }
        return nil
    }

    private mutating func newestFields(in file: MozillaFile, ofType type: String, client: String?) -> BorrowedFields? {
        // A file that cannot be read is reported by its own scan.
        guard (try? file.read(in: context, into: &fileBuffer)) != nil else { return nil }
        var found = ScanOutput(capture: context.capture, path: file.path)
        var pings = PingReader(from: file.origin(in: context))
        pings.readPingArray(fileBuffer, into: &found)
        return fields(ofLast: found.records, type: type, client: client)
    }

    private func fields(ofLast records: [Record], type: String, client: String?) -> BorrowedFields? {
        let id = client.map { ClientID($0) }
        let found = records.last { record in
            record.type == type && record.client != nil
                && (id == nil || record.client.map { ClientID($0) } == id)
        }
        return found.flatMap { BorrowedFields($0) }
    }

    /// Returns the client id in the preferences of the app, or `nil` if they contain none.
    mutating func clientInPreferences() -> String? {
        context.neighbors.fact(named: "mozilla-client-in-preferences") { readClientInPreferences() }
    }

    private mutating func readClientInPreferences() -> String? {
        for store in context.neighbors {
            // The scan of the preferences reports errors.
            guard let file = store as? MozillaFile, case .preferences(let hasPrefix) = file.contents,
                (try? file.read(in: context, into: &fileBuffer)) != nil,
                let document = try? PropertyListDocument(fileBuffer),
                let json = try? PreferencesJSON.entries(
                    of: document, withPrefix: hasPrefix ? StoredValues.keyPrefix : ""),
                let client = (try? StoredValues(json))?.clientID
            else { continue }
            return client
        }
        return nil
    }
}
