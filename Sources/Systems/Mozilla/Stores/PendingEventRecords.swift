import Bytes
import Files
import JSONText
import PropertyList
import Telemetry

/// The functions that create records of events that are not yet included in a ping, so that the events are available
/// for analysis.
///
/// The records are never uploaded, because the app may still send the events itself.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 4.5.
enum PendingEventRecords {
    /// Creates held records of the events in `pending`, with at most 500 events each.
    ///
    /// If `isClientInFile` is `true`, `client` is the client id of the records. If not, the client id of `borrowed`
    /// takes precedence over `client`.
    static func makeRecords(
        of pending: PendingEvents, type: String, borrowed: BorrowedFields?, client: String?, isClientInFile: Bool,
        firstIndex: Int = 0, applicationID: String?, from source: Source
    ) -> [Record] {
        let knownClient = isClientInFile ? client : borrowed?.client ?? client
        var notes = pending.notes
        if let note = borrowingNote(borrowed: borrowed, client: client, isClientInFile: isClientInFile) {
            notes.append(note)
        }
        return stride(from: 0, to: pending.events.count, by: EventPing.maximumEventCount).enumerated().map {
            number, start in
            let end = min(start + EventPing.maximumEventCount, pending.events.count)
            let events = pending.events.jsonArray(of: start..<end)
            return Record(
                system: .mozilla, type: type, id: UUIDText.ofPendingEvents(events, type: type, client: knownClient),
                client: knownClient,
                app: borrowed?.app ?? App(id: applicationID),
                payload: payload(events: events, borrowed: borrowed, client: knownClient),
                source: source.record(at: firstIndex + number), notes: notes, held: [.pendingEvents])
        }
    }

    private static func borrowingNote(borrowed: BorrowedFields?, client: String?, isClientInFile: Bool) -> String? {
        if let borrowed {
            let names = borrowed.fields.map(\.key.description).joined(separator: ", ")
            return "PE borrowed from ping \(borrowed.pingID): \(names)"
        }
        return client == nil || isClientInFile ? nil : "PE borrowed from the preferences: clientId"
    }

    private static func payload(events: [UInt8], borrowed: BorrowedFields?, client: String?) -> [UInt8] {
        var object = CanonicalObject()
        for field in borrowed?.fields ?? [] { object.set(field.key, CanonicalText(field.value)) }
        if let client { object.set("clientId", client) }
        object.set("events", CanonicalText(events))
        return object.bytes
    }
}

/// The fields of a stored ping that also apply to the pending events of the same type.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", section 4.5.
struct BorrowedFields: Sendable {
    let client: String
    /// The time at which the ping was queued, or `nil` if it is unknown.
    let time: Timestamp?
    let app: App?
    let pingID: String
    /// The sequence number of the ping, or `nil` if it has none.
    let sequenceNumber: Int64?
    /// The fields in canonical order, with their values as canonical JSON.
    let fields: [(key: JSONKey, value: [UInt8])]

    private static let borrowedKeys: [JSONKey] = [
        "arch", "clientId", "device", "locale", "os", "osversion", "settings", "tz", "v",
    ]

    /// Copies the fields of `ping`, or returns `nil` if it contains no client id.
    init?(_ ping: Record) {
        guard let client = ping.client, let document = try? JSONDocument(ping.payload) else { return nil }
        self.client = client
        time = ping.time
        app = ping.app
        pingID = ping.id
        sequenceNumber = document.value(of: MeasurementKeys.sequenceNumber, .number, in: document.root)
            .flatMap { Int64(decimal: document.bytes(of: $0)) }
        fields = Self.borrowedKeys.compactMap { key in
            document.value(of: key, in: document.root).map { (key, document.canonicalBytes(of: $0)) }
        }
    }
}

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
                guard let found = newestFields(in: context.neighbors.stores[index], ofType: type, client: client) else {
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
            for (index, store) in context.neighbors.stores.enumerated() {
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
        var pings = store.pingReader(in: context)
        // The files are sorted by time, so the last one that can be read contains the newest ping.
        for index in (0..<store.fileCount).reversed() {
            guard let file = store.file(at: index),
                // A file that cannot be read is reported by its own scan.
                (try? folder.read(file.name, limit: InputLimits.storeFileSize, into: &fileBuffer)) != nil
            else { continue }
            if let fields = lastFields(in: file, with: &pings, type: store.pingType, client: client) { return fields }
        }
        return nil
    }

    private mutating func newestFields(in store: MozillaFile, ofType type: String, client: String?) -> BorrowedFields? {
        // A file that cannot be read is reported by its own scan.
        guard (try? read(store)) != nil, let file = store.file(at: 0) else { return nil }
        var pings = store.pingReader(.array, in: context)
        return lastFields(in: file, with: &pings, type: type, client: client)
    }

    /// Returns the fields of the last suitable ping in `file`, whose contents were read into the buffer.
    private func lastFields(
        in file: StoreFile, with pings: inout PingReader, type: String, client: String?
    ) -> BorrowedFields? {
        let source = Source(capture: context.capture, path: file.path, store: file.kind, index: 0)
        let id = client.map { ClientID($0) }
        let last = pings.lastRecord(in: fileBuffer, from: source) { record in
            record.type == type && record.client != nil
                && (id == nil || record.client.map { ClientID($0) } == id)
        }
        return last.flatMap { BorrowedFields($0) }
    }

    /// Reads the file of a store into the buffer, unless it exceeds the size limit of store files.
    private mutating func read(_ store: MozillaFile) throws(FileError) {
        let folder = try context.tree.folder(at: store.folderPath)
        try folder.read(store.location.name, limit: InputLimits.storeFileSize, into: &fileBuffer)
    }

    /// Returns the client id in the preferences of the app, or `nil` if they contain none.
    mutating func clientInPreferences() -> String? {
        context.neighbors.fact(named: "mozilla-client-in-preferences") { readClientInPreferences() }
    }

    private mutating func readClientInPreferences() -> String? {
        for store in context.neighbors.stores {
            // The scan of the preferences reports errors.
            guard let file = store as? MozillaFile, case .preferences(let hasPrefix) = file.contents,
                (try? read(file)) != nil,
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
