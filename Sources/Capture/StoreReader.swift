import Files
import JSONText
import Telemetry

/// Turns the bytes of store files into records. One reader serves one thread at a time and keeps its memory.
struct StoreReader {
    private let capture: CapturedFolder
    private var pings = PingReader()
    private var borrowed: BorrowedPings

    init(_ capture: CapturedFolder) {
        self.capture = capture
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
            output.rejects.append(Reject("preferences \(error)"))
        }
    }

    private func propertyList(_ bytes: [UInt8], prefix: String, code: String, into output: inout Extraction)
        -> [UInt8]?
    {
        do throws(PropertyListError) {
            return try PropertyListFile.json(of: bytes, entriesWithPrefix: prefix)
        } catch {
            output.rejects.append(Reject("\(code) \(error)"))
            return nil
        }
    }
}

extension FoundStore {
    /// The folder that its files are opened in: that of the pings, or the root of the capture.
    var folderPath: String {
        if case .pingFolder(let folder) = contents { folder.path } else { "" }
    }

    /// The name by which a file is opened in ``folderPath``, and its path in the capture.
    func file(_ index: Int) -> (name: [UInt8], path: String) {
        guard case .pingFolder(let folder) = contents else { return (Array(path.utf8), path) }
        let name = folder.name(index)
        return (name, FolderVisit.join(folder.path, String(decoding: name, as: UTF8.self)))
    }

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
        case .datedMeasurements, .values, .preferences, .groupPreferences: ""
        }
    }
}
