import Bytes
import Files
import JSONText
import PropertyList
import Telemetry

/// A store of Mozilla's SDK that consists of one file.
struct MozillaFile: FileStore {
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
    var pendingEventFiles: Range<Int> { kind == .mozillaPendingEvents ? 0..<1 : 0..<0 }

    // Preferences of apps and app groups can contain credentials.
    var credentials: StoreFile.Credentials { kind == .mozillaDefaults ? .always : .never }

    func makeReader(in context: StoreContext) -> any StoreReader {
        switch contents {
        case .pingArray: pingReader(.array, in: context)
        case .datedMeasurements, .pendingEvents, .values, .preferences, .groupPreferences:
            MozillaFileReader(contents, in: context)
        }
    }

    func pingReader(_ format: PingReader.Format, in context: StoreContext) -> PingReader {
        PingReader(
            format, pingTypeFromName: contents.pingTypeFromName, applicationID: context.container.applicationID)
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

/// A reader of a file without envelopes: dated measurements, pending events, values or preferences.
private struct MozillaFileReader: StoreReader {
    private let contents: MozillaFile.Contents
    private let applicationID: String?
    private let reportsCounters: Bool
    private var pingReader: PingReader
    private var fieldsFinder: BorrowedFieldsFinder
    /// The rejects of the file that were not reported yet, because a file can have millions.
    private var rejects: ArraySlice<Reject> = []

    init(_ contents: MozillaFile.Contents, in context: StoreContext) {
        self.contents = contents
        applicationID = context.container.applicationID
        reportsCounters = context.options.reportsQueues
        pingReader = PingReader(.datedMeasurements, applicationID: applicationID)
        fieldsFinder = BorrowedFieldsFinder(in: context)
    }

    mutating func read(
        _ bytes: [UInt8], ofFile index: Int, from source: Source, into output: inout ScanOutput
    ) throws -> Bool {
        if pingReader.isOpen { return try pingReader.read([], ofFile: index, from: source, into: &output) }
        if rejects.isEmpty { try read(bytes, from: source, into: &output) }
        let hasMoreRejects = try output.reject(&rejects)
        return hasMoreRejects || pingReader.isOpen
    }

    private mutating func read(_ bytes: [UInt8], from source: Source, into output: inout ScanOutput) throws {
        switch contents {
        case .pendingEvents(let type): try readPendingEvents(bytes, ofType: type, from: source, into: &output)
        case .values: try readValues(bytes.blankingByteOrderMark, from: source, into: &output)
        case .preferences(let hasPrefix):
            let prefix = hasPrefix ? StoredValues.keyPrefix : ""
            guard let json = json(of: bytes, prefix: prefix, code: "V3", into: &output) else { return }
            try readValues(json, from: source, into: &output)
        case .groupPreferences: reportExtensionEvents(bytes, into: &output)
        case .pingArray, .datedMeasurements:
            guard let json = json(of: bytes, prefix: "", code: "S0", into: &output) else { return }
            _ = try pingReader.read(json, ofFile: 0, from: source, into: &output)
        }
    }

    private mutating func readPendingEvents(
        _ bytes: [UInt8], ofType type: String, from source: Source, into output: inout ScanOutput
    ) throws {
        var file = PendingEventFile(bytes)
        let pending = file.read()
        rejects = pending.rejects[...]
        guard pending.events.count > 0 else { return }
        let records = PendingEventRecords.makeRecords(
            of: pending, type: type, borrowed: fieldsFinder.newestFields(ofType: type, client: nil),
            client: fieldsFinder.clientInPreferences(), isClientInFile: false, applicationID: applicationID,
            from: source)
        for record in records { try output.addPendingEvents(record) }
    }

    private mutating func readValues(_ json: [UInt8], from source: Source, into output: inout ScanOutput) throws {
        let values: StoredValues
        do throws(JSONError) {
            values = try StoredValues(json)
        } catch {
            let words = error.code == .empty ? "empty file" : ByteOrderMark.message(forJSON: json) ?? "\(error)"
            return rejects.append(Reject("V1 \(words)"))
        }
        if let problem = values.counterProblem { output.report(problem) }
        if reportsCounters { report(values, into: &output) }
        if let client = values.clientID { output.withdrawIfOptedOut(client: client, of: .mozilla) }
        var index = 0
        for (type, pending) in values.pendingEvents {
            rejects += pending.rejects
            let ping = values.clientID.flatMap { fieldsFinder.newestFields(ofType: type, client: $0) }
            let records = PendingEventRecords.makeRecords(
                of: pending, type: type, borrowed: ping, client: values.clientID, isClientInFile: true,
                firstIndex: index, applicationID: applicationID, from: source)
            index += records.count
            for record in records { try output.add(record) }
        }
    }

    /// Reports the uploads that the app made last, and compares its counters with the newest stored pings.
    private mutating func report(_ values: StoredValues, into output: inout ScanOutput) {
        var report = StoreReport(facts: values.uploadFacts)
        for (type, number) in values.lastNumbers {
            guard let client = values.clientID else { break }
            let counter = StoreReport.Counter(system: .mozilla, client: client, type: type, lastNumber: number)
            report.counters.append(counter)
            let newest = fieldsFinder.newestFields(ofType: type, client: client)?.sequenceNumber
            if let fact = newest.flatMap({ counter.fact(newestNumber: $0) }) { report.facts.append(fact) }
        }
        if !report.facts.isEmpty || !report.counters.isEmpty { output.report(report) }
    }

    private mutating func reportExtensionEvents(_ bytes: [UInt8], into output: inout ScanOutput) {
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
            rejects.append(Reject("preferences", error))
        }
    }

    /// Returns the entries of a property list as JSON, or adds a reject and returns `nil` if the list cannot be read.
    private mutating func json(
        of bytes: [UInt8], prefix: String, code: String, into output: inout ScanOutput
    ) -> [UInt8]? {
        do throws(PropertyListError) {
            return try PreferencesJSON.entries(of: parsePropertyList(bytes, into: &output), withPrefix: prefix)
        } catch {
            rejects.append(Reject(code, error))
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
