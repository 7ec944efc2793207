import Files
import JSONText
import PropertyList
import Telemetry

/// Turns the bytes of store files into records. One reader serves one thread at a time and keeps its memory.
struct StoreReader {
    private let capture: CapturedFolder
    private let secret: RunSecret
    private var pings = PingReader()
    private var borrowed: BorrowedPings

    init(_ capture: CapturedFolder, secret: RunSecret) {
        self.capture = capture
        self.secret = secret
        borrowed = BorrowedPings(capture)
    }

    /// Reads the bytes of one file of a store.
    /// - Parameter place: what the store says of itself, and the file's path.
    mutating func read(
        _ bytes: [UInt8], of store: FoundStore, at place: MozillaPlace, into output: inout Extraction
    ) {
        switch store.contents {
        case .pingFolder: pings.readPingFile(bytes, at: place, into: &output)
        case .pingArray: pings.readPingArray(bytes, at: place, into: &output)
        case .pendingEvents: readPendingEvents(bytes, of: store, at: place, into: &output)
        case .datedMeasurements:
            guard let json = propertyList(bytes, prefix: "", code: "S0", into: &output) else { return }
            pings.readDatedMeasurements(json, at: place, into: &output)
        case .values: readValues(bytes, of: store, at: place, into: &output)
        case .preferences(let hasPrefix):
            let prefix = hasPrefix ? StoredValues.keyPrefix : ""
            guard let json = propertyList(bytes, prefix: prefix, code: "V3", into: &output) else { return }
            readValues(json, of: store, at: place, into: &output)
        case .groupPreferences: reportExtensionEvents(bytes, into: &output)
        case .leanplumRequests(let applicationID):
            let place = LeanplumPlace(
                capture: place.capture, path: place.path, store: place.store, applicationID: applicationID)
            LeanplumPropertyList.readRequests(bytes, at: place, secret: secret, into: &output)
        case .leanplumPreferences:
            let place = LeanplumPlace(capture: place.capture, path: place.path, store: place.store)
            LeanplumPropertyList.readDefaults(bytes, at: place, secret: secret, into: &output)
        // Too large for memory: a unit reads it row by row.
        case .leanplumDatabase: break
        // Read piece by piece, see `RequestLogScan`.
        case .requestLog: break
        // Read as one, not file by file.
        case .sift: break
        }
    }

    private mutating func readPendingEvents(
        _ bytes: [UInt8], of store: FoundStore, at place: MozillaPlace, into output: inout Extraction
    ) {
        var file = PendingEventFile(bytes)
        let pending = file.read()
        output.rejects += pending.rejects
        guard pending.events.count > 0 else { return }
        output.records += PendingEventRecords.make(
            pending, borrowed: borrowed.newest(of: place.namedType, in: store.container, client: nil),
            client: borrowed.clientInPreferences(of: store.container), isOwnClient: false, at: place)
    }

    private mutating func readValues(
        _ json: [UInt8], of store: FoundStore, at place: MozillaPlace, into output: inout Extraction
    ) {
        let values: StoredValues
        do throws(JSONError) {
            values = try StoredValues(json)
        } catch {
            return output.rejects.append(Reject(error.code == .empty ? "V1 empty file" : "V1 \(error)"))
        }
        if let counters = values.counters { output.problems.append(counters) }
        var index = 0
        for (type, pending) in values.pending {
            output.rejects += pending.rejects
            var place = place
            place.namedType = type
            let records = PendingEventRecords.make(
                pending,
                borrowed: values.client.flatMap {
                    borrowed.newest(of: type, in: store.container, client: $0)
                }, client: values.client, isOwnClient: true, firstIndex: index, at: place)
            index += records.count
            output.records += records
        }
    }

    private func reportExtensionEvents(_ bytes: [UInt8], into output: inout Extraction) {
        do throws(PropertyListError) {
            let count = try PropertyListFile.count(ofArray: GroupPreferences.eventsKey, in: bytes)
            guard count > 0 else { return }
            output.problems.append(
                Problem(
                    "extension-events",
                    "\(count) event\(count == 1 ? "" : "s") of the share extension wait for the next mobile-event ping")
            )
        } catch {
            output.rejects.append(Reject("preferences", error))
        }
    }

    private func propertyList(_ bytes: [UInt8], prefix: String, code: String, into output: inout Extraction)
        -> [UInt8]?
    {
        do throws(PropertyListError) {
            return try PropertyListFile.json(of: bytes, entriesWithPrefix: prefix)
        } catch {
            output.rejects.append(Reject(code, error))
            return nil
        }
    }
}

extension Reject {
    /// A property list that could not be read, with the code of the format that it belongs to.
    fileprivate init(_ code: String, _ error: PropertyListError) {
        self.init("\(code) \(error.code.rawValue): \(error.reason)", offset: error.offset)
    }
}

extension FoundStore {
    /// The folder that its files are opened in: that of the pings, or the root of the capture or archive.
    var folderPath: String {
        switch contents {
        case .pingFolder(let folder): folder.path
        case .sift(let folder): folder.path
        default: archivePrefix
        }
    }

    /// The name by which a file is opened in ``folderPath``, and its path in the capture.
    func file(_ index: Int) -> (name: [UInt8], path: String) {
        switch contents {
        case .pingFolder(let folder):
            let name = folder.name(index)
            return (name, folder.base + String(decoding: name, as: UTF8.self))
        case .sift(let folder):
            let name = folder.files[index].name
            return (name, folder.base + String(decoding: name, as: UTF8.self))
        default: return (Array(path.utf8.dropFirst(archivePrefix.utf8.count)), path)
        }
    }

    /// How reports name the kind of a file.
    func kind(ofFile index: Int) -> StoreKind {
        if case .sift(let folder) = contents { folder.files[index].file.kind } else { kind }
    }

    /// Whether its files tell of each other, so that one job reads them all.
    var isReadAtOnce: Bool { system == .sift }

    /// What the readers of the bytes need to know of where they come from.
    func place(of path: String, capture: String) -> MozillaPlace {
        MozillaPlace(
            capture: capture, path: path, store: kind, namedType: namedType,
            applicationID: container.applicationID)
    }

    /// The ping type that the store is named for.
    private var namedType: String {
        switch contents {
        case .pingFolder(let folder): folder.type
        case .pingArray(let type), .pendingEvents(let type): type
        default: ""
        }
    }
}
