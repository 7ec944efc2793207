import Bytes
import Files
import JSONText
import PropertyList
import Telemetry

/// A store of Mozilla's SDK that consists of one file.
struct MozillaFile: SingleFileStore {
    /// The format of the file.
    enum Contents: Sendable {
        /// An array of pings (format S1).
        case pingArray(type: String)
        /// Measurements by date (format S0, which is the oldest format).
        case datedMeasurements
        /// Events that are not yet included in a ping (format PE).
        case pendingEvents(type: String)
        /// Counters and events (format V1).
        case values
        /// Preferences of an app that contain counters and events, under keys with or without a prefix (formats V3 and
        /// V2).
        case preferences(hasPrefix: Bool)
        /// Preferences that contain no values of the SDK, but the setting for usage data or events of app extensions.
        case groupPreferences
    }

    /// The key of app extension events in the preferences of an app group.
    static let groupEventsKey = "profile.AppExtensionTelemetryEvents"

    let contents: Contents
    let location: FileLocation

    init(_ contents: Contents, named name: String, in folder: borrowing InspectedFolder) {
        self.contents = contents
        location = FileLocation(name: name, in: folder)
    }

    var system: SystemName? { .mozilla }
    var kind: StoreKind { contents.kind }
    /// Whether the file can contain credentials, as preferences of apps and app groups can.
    var carriesCredentials: Bool {
        switch contents {
        case .preferences, .groupPreferences: true
        case .pingArray, .datedMeasurements, .pendingEvents, .values: false
        }
    }

    func makeReader(in context: StoreContext) -> any FileReader { MozillaFileReader(self, in: context) }

    func origin(in context: StoreContext) -> MozillaStoreOrigin {
        MozillaStoreOrigin(
            capture: context.capture, path: path, store: contents.kind, pingTypeFromName: contents.pingTypeFromName,
            applicationID: context.container.applicationID)
    }

    /// Reads the file, unless it exceeds the size limit of store files.
    func read(in context: StoreContext, into bytes: inout [UInt8]) throws(FileError) {
        try context.tree.folder(at: folderPath).read(location.name, limit: InputLimits.storeFileSize, into: &bytes)
    }
}

extension MozillaFile.Contents {
    fileprivate var kind: StoreKind {
        switch self {
        case .pingArray, .datedMeasurements: .mozillaPingArray
        case .pendingEvents: .mozillaPendingEvents
        case .values: .mozillaValues
        case .preferences, .groupPreferences: .mozillaDefaults
        }
    }

    /// The ping type in the name of the file, or an empty string if the name contains none.
    fileprivate var pingTypeFromName: String {
        switch self {
        case .pingArray(let type), .pendingEvents(let type): type
        case .datedMeasurements, .values, .preferences, .groupPreferences: ""
        }
    }
}

// MARK: - Reading

/// A reader of a store that consists of one file.
private struct MozillaFileReader: FileReader {
    private let contents: MozillaFile.Contents
    private let origin: MozillaStoreOrigin
    private var pingReader: PingReader
    private var fieldsFinder: BorrowedFieldsFinder

    init(_ file: MozillaFile, in context: StoreContext) {
        contents = file.contents
        origin = file.origin(in: context)
        pingReader = PingReader(from: origin)
        fieldsFinder = BorrowedFieldsFinder(in: context)
    }

    mutating func read(_ bytes: [UInt8], file index: Int, into output: inout ScanOutput) {
        switch contents {
        case .pingArray: pingReader.readPingArray(bytes, into: &output)
        case .pendingEvents(let type): readPendingEvents(bytes, ofType: type, into: &output)
        case .datedMeasurements:
            guard let json = json(of: bytes, prefix: "", code: "S0", into: &output) else { return }
            pingReader.readDatedMeasurements(json, into: &output)
        case .values: readValues(bytes, into: &output)
        case .preferences(let hasPrefix):
            let prefix = hasPrefix ? StoredValues.keyPrefix : ""
            guard let json = json(of: bytes, prefix: prefix, code: "V3", into: &output) else { return }
            readValues(json, into: &output)
        case .groupPreferences: reportExtensionEvents(bytes, into: &output)
        }
    }

    private mutating func readPendingEvents(_ bytes: [UInt8], ofType type: String, into output: inout ScanOutput) {
        var file = PendingEventFile(bytes)
        let pending = file.read()
        output.rejects += pending.rejects
        guard pending.events.count > 0 else { return }
        let records = PendingEventRecords.makeRecords(
            of: pending, borrowed: fieldsFinder.newestFields(ofType: type, client: nil),
            client: fieldsFinder.clientInPreferences(),
            isClientInFile: false, from: origin)
        for record in records { output.add(record) }
    }

    private mutating func readValues(_ json: [UInt8], into output: inout ScanOutput) {
        let values: StoredValues
        do throws(JSONError) {
            values = try StoredValues(json)
        } catch {
            return output.rejects.append(Reject(error.code == .empty ? "V1 empty file" : "V1 \(error)"))
        }
        if let problem = values.counterProblem { output.report(problem) }
        if let client = values.clientID { output.withdrawIfOptedOut(client: client, of: .mozilla) }
        var index = 0
        for (type, pending) in values.pendingEvents {
            output.rejects += pending.rejects
            var origin = origin
            origin.pingTypeFromName = type
            let ping = values.clientID.flatMap { fieldsFinder.newestFields(ofType: type, client: $0) }
            let records = PendingEventRecords.makeRecords(
                of: pending, borrowed: ping, client: values.clientID, isClientInFile: true, firstIndex: index,
                from: origin)
            index += records.count
            for record in records { output.add(record) }
        }
    }

    private func reportExtensionEvents(_ bytes: [UInt8], into output: inout ScanOutput) {
        do throws(PropertyListError) {
            let document = try parsePropertyList(bytes, into: &output)
            let events = document.value(of: JSONKey(MozillaFile.groupEventsKey), in: document.root)
            let count = events.map { document.elements(of: $0).count } ?? 0
            guard count > 0 else { return }
            output.report(
                Problem(
                    "extension-events",
                    "\(count.counted("event")) of the share extension wait for the next mobile-event ping")
            )
        } catch {
            output.rejects.append(Reject("preferences", error))
        }
    }

    /// Returns the entries of a property list as JSON, or adds a reject and returns `nil` if the list cannot be read.
    private func json(of bytes: [UInt8], prefix: String, code: String, into output: inout ScanOutput) -> [UInt8]? {
        do throws(PropertyListError) {
            return try PreferencesJSON.entries(of: try parsePropertyList(bytes, into: &output), withPrefix: prefix)
        } catch {
            output.rejects.append(Reject(code, error))
            return nil
        }
    }

    /// Parses a property list, and reports repeated keys.
    private func parsePropertyList(
        _ bytes: [UInt8], into output: inout ScanOutput
    ) throws(PropertyListError) -> PropertyListDocument {
        let document = try PropertyListDocument(bytes)
        if let repeated = document.repeatedKeys {
            output.report(Problem(repeated.code.rawValue, repeated.reason, at: repeated.offset))
        }
        return document
    }
}

extension Reject {
    /// Creates a reject for an unreadable property list.
    ///
    /// `code` identifies the format of the store.
    fileprivate init(_ code: String, _ error: PropertyListError) {
        self.init("\(code) \(error.code.rawValue): \(error.reason)", offset: error.offset)
    }
}
