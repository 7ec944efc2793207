import Bytes
import Hashing
import JSONText

/// A writer that applies the filter and the pseudonyms to records, and writes each as a line with a summary.
public struct RecordWriter: Sendable {
    /// The written records as lines of canonical JSON.
    public private(set) var lines = TextBuffer()
    /// The records that were written to ``lines``.
    public private(set) var entries: [ScanOutput.Entry] = []
    /// The apps of all records, including the records that the filter excludes.
    ///
    /// The array is empty if the options do not request store reports.
    public private(set) var apps: [ScanOutput.AppEntry] = []
    /// The withdrawals that stores contain and that records cause, including records that the filter excludes.
    public internal(set) var withdrawals: [Withdrawal] = []
    /// The findings of the filter about all records.
    public private(set) var filtered = FilterFindings()
    /// The number of records that were omitted because another store of the container contains equal records.
    public private(set) var duplicates = 0
    /// The records that ``duplicates`` counts, if the options request them.
    public private(set) var droppedCopies: [DroppedCopy] = []
    /// The estimated size of the written records in bytes.
    private(set) var size = 0

    private let capture: String
    private let input: Int
    private let filter: RecordFilter
    private let collectsApps: Bool
    private let listsDroppedCopies: Bool
    private var pseudonymizer: RecordPseudonymizer?
    /// The systems whose sequence numbers are read, or `nil` if the options do not request sequence numbers.
    private let numberedSystems: SystemTable?
    /// The systems whose uploads can be requests for the deletion of data.
    private let systems: SystemTable?
    private let deletionRequestTypes: Set<CapturedText>
    /// The payload that is parsed again, for example to read its sequence number.
    private var payload = JSONDocument()

    /// The maximum capacity, in bytes, of lines that are reused.
    private static let maximumRecycledLinesSize = 512 << 10
    /// The estimated size, in bytes, of a record without its payload and notes.
    private static let recordSize = 1 << 10

    /// Creates a writer for the records of the input at the index `input`, whose label is `capture`.
    init(capture: String, input: Int, _ options: ScanOptions) {
        self.capture = capture
        self.input = input
        filter = options.filter
        collectsApps = options.reportsQueues
        listsDroppedCopies = options.listsDroppedCopies
        pseudonymizer = options.pseudonymizer
        numberedSystems = options.numberedSystems
        systems = options.systems
        deletionRequestTypes = options.deletionRequestTypes
    }

    /// Writes a record from `place`, unless the filter excludes it.
    ///
    /// `usageData` contains the switches that can apply to the record.
    ///
    /// - Throws: `PseudonymError` if the record cannot be pseudonymized.
    mutating func write(
        _ record: consuming Record, at place: ScanOutput.StorePlace?, _ usageData: UsageDataSwitches?,
        pendingEvents: Digest16? = nil
    ) throws(PseudonymError) {
        if collectsApps, let place, let app = record.app { collect(LatestApp(app, at: record.time), at: place) }
        if let hold = Self.holdForType(of: record) { record.held.insert(hold, at: 0) }
        holdIfOptedOut(&record, usageData)
        collectWithdrawals(by: record)
        guard filter.passes(record, noting: &filtered) else { return }
        size += Self.size(of: record)
        // Equal records stay equal, because pseudonyms depend only on the record and the key.
        let leftOut = try pseudonymizer?.pseudonymize(&record) ?? PseudonymCounts()
        let start = lines.count
        let written = record.write(to: &lines)
        append(
            record, at: start..<lines.count, written, place: place, leftOut: leftOut, pendingEvents: pendingEvents)
    }

    /// Writes a record of pending events from `place`, unless the filter excludes it.
    ///
    /// - Throws: `PseudonymError` if the record cannot be pseudonymized.
    mutating func writePendingEvents(
        _ record: consuming Record, at place: ScanOutput.StorePlace?, _ usageData: UsageDataSwitches?
    ) throws(PseudonymError) {
        let identity = RecordKey.identity(ofPendingEvents: record, using: &payload)
        try write(record, at: place, usageData, pendingEvents: identity)
    }

    /// Counts a record that is omitted because another store of the container contains an equal record.
    mutating func omit(duplicate record: borrowing Record) {
        guard filter.passes(record, noting: &filtered) else { return }
        duplicates += 1
        guard listsDroppedCopies else { return }
        var dropped = copy record
        // The copy cannot have pseudonyms of another key, because stores contain no pseudonyms.
        if pseudonymizer != nil, (try? pseudonymizer?.pseudonymize(&dropped)) == nil { return }
        var line = TextBuffer()
        let written = dropped.write(to: &line)
        let listed = DroppedCopy(key: RecordKey(dropped), line: line[0..<line.count], payload: written.payload)
        size += listed.envelope.count
        droppedCopies.append(listed)
    }

    /// Returns the estimated size of `record`, including the notes, which can be larger than the payload.
    private static func size(of record: borrowing Record) -> Int {
        record.notes.reduce(recordSize + record.payload.count) { $0 + $1.utf8.count + MemoryLayout<String>.stride }
    }

    /// Adds a record of a bundle, whose line is the part `line` of the text that is later passed to ``adopt(lines:)``.
    mutating func add(_ record: borrowing Record, at line: Range<Int>, _ written: RecordLineLayout) {
        collectWithdrawals(by: record)
        guard filter.passes(record, noting: &filtered) else { return }
        append(record, at: line, written, place: nil, leftOut: PseudonymCounts(), pendingEvents: nil)
    }

    /// Uses `text` as the lines of all records.
    mutating func adopt(lines text: [UInt8]) { lines = TextBuffer(text) }

    private mutating func append(
        _ record: borrowing Record, at line: Range<Int>, _ written: RecordLineLayout, place: ScanOutput.StorePlace?,
        leftOut: PseudonymCounts, pendingEvents: Digest16?
    ) {
        let summary = RecordSummary(record)
        let number = sequenceNumber(of: record)
        entries.append(
            ScanOutput.Entry(
                summary: summary, line: line, written: written, key: RecordKey(record),
                rank: record.held.isEmpty ? .notHeld : CopyRank(record.held),
                dependsOnSurroundings: dependsOnSurroundings(record.held), input: input, place: place,
                leftOut: leftOut, sequenceNumber: number, pendingEvents: pendingEvents))
    }

    /// Returns whether a copy of a record with the given holds can have other holds.
    ///
    /// If the output makes pseudonyms, all copies have the hold for pseudonyms.
    private func dependsOnSurroundings(_ holds: [Hold]) -> Bool {
        guard !holds.isEmpty else { return false }
        return CopyRank.dependsOnSurroundings(
            pseudonymizer == nil ? holds : holds.filter { $0 != .pseudonymized })
    }

    /// Reads the sequence number of a record from its payload.
    ///
    /// Returns `nil` if sequence numbers are not requested.
    private mutating func sequenceNumber(of record: borrowing Record) -> SequenceNumber? {
        guard let numberedSystems else { return nil }
        guard let sequence = numberedSystems[record.system]?.sequence, sequence.isNumbered(record.type) else {
            return .unnumbered
        }
        // A payload is valid JSON but can contain unpaired surrogates.
        let policy = JSONReadingPolicy(unpairedSurrogates: .keep, valueLimit: .fixed)
        guard (try? payload.read(record.payload, policy: policy)) != nil else { return .invalid }
        defer { payload.reset() }
        return sequence.number(in: payload, type: record.type)
    }

    /// Returns the hold for a record without a type, or `nil` if `record` has a type or already has a schema hold.
    ///
    /// Servers have neither a path nor a limit for records without a type.
    private static func holdForType(of record: borrowing Record) -> Hold? {
        guard record.type.isEmpty, !record.held.contains(where: \.isSchema) else { return nil }
        return .schema(["type is empty"])
    }

    /// Holds `record`, and withdraws the data of its client, if the user of its app has switched off usage data.
    private mutating func holdIfOptedOut(_ record: inout Record, _ usageData: UsageDataSwitches?) {
        guard let found = usageData?.applying(to: record.system, app: record.app), found.state == .off else { return }
        record.held.append(.optedOut)
        record.notes.append("\(Hold.optedOut.code) \(found.setting.key) is off in \(found.path)")
        if let client = record.client { withdraw(client: client, of: record.system, by: found) }
    }

    /// Withdraws the data of `client` if the user of the app in the current container has switched off usage data.
    ///
    /// This method is for clients in preferences, because a container can contain the id of its client but no record.
    mutating func withdrawIfOptedOut(client: String, of system: SystemName, _ usageData: UsageDataSwitches?) {
        guard let found = usageData?.applying(to: system, app: nil), found.state == .off else { return }
        withdraw(client: client, of: system, by: found)
    }

    private mutating func withdraw(client: String, of system: SystemName, by found: UsageDataSwitch) {
        let subject = Withdrawal.Subject(system, .client, id: client)
        let withdrawal = Withdrawal(.optedOut, of: subject, capture: capture, path: found.path)
        // Consecutive records mostly have the same client, so only the last withdrawal is compared.
        guard withdrawals.last != withdrawal else { return }
        size += ScanOutput.detailSize
        withdrawals.append(withdrawal)
    }

    private mutating func collectWithdrawals(by record: borrowing Record) {
        // Pseudonyms identify no client.
        guard deletionRequestTypes.contains(record.type), record.pseudonymKeyID == nil,
            let uploads = systems?[record.system]?.uploads, uploads.precedence.first.contains(record.type)
        else { return }
        withdrawals += uploads.withdrawals(by: record, using: &payload)
    }

    private mutating func collect(_ app: LatestApp, at place: ScanOutput.StorePlace) {
        // Consecutive records mostly belong to the same part, so only the last part is compared.
        if let last = apps.indices.last, apps[last].place == place {
            apps[last].latest.add(app)
        } else {
            apps.append(ScanOutput.AppEntry(place: place, latest: app))
        }
        guard let name = app.app.name.map({ CapturedText($0) }), let last = apps.indices.last,
            apps[last].names.count < ScanOutput.AppEntry.maximumNameCount
        else { return }
        apps[last].names.insert(name)
    }

    /// Removes all records, and keeps their memory for reuse.
    mutating func removeAll() {
        lines.removeAll()
        entries.removeAll(keepingCapacity: true)
        (apps, withdrawals, filtered, duplicates, size) = ([], [], FilterFindings(), 0, 0)
        droppedCopies = []
    }

    /// Whether the writer is small enough to be kept for reuse.
    var isWorthReusing: Bool { lines.capacity <= Self.maximumRecycledLinesSize }
}

// MARK: - Written records

extension ScanOutput {
    /// The summary of a written record.
    public struct Entry: Sendable {
        /// The parts of the record that are counted.
        public let summary: RecordSummary
        /// The range of the line, including its line feed, in ``ScanOutput/lines``.
        public let line: Range<Int>
        /// The positions of the record's notes and payload in ``ScanOutput/lines``.
        public let written: RecordLineLayout
        /// The key that identifies copies of the record.
        public let key: RecordKey
        /// The rank of the record among its copies.
        public let rank: CopyRank
        /// Whether a copy of the record can have other holds, as described in ``CopyRank/dependsOnSurroundings(_:)``.
        public let dependsOnSurroundings: Bool
        /// The index of the input that the record was read from.
        public let input: Int
        /// The part of a store that contained the record, or `nil` if the input is a bundle or a request log.
        public let place: StorePlace?
        /// The counts of the values that pseudonymization removed.
        public let leftOut: PseudonymCounts
        /// The sequence number of the record, or `nil` if the options do not request sequence numbers.
        public let sequenceNumber: SequenceNumber?
        /// The hash of the system, the type and the events if the record consists of pending events and is not from a
        /// bundle.
        ///
        /// It does not depend on the client and the other fields that were borrowed from the surroundings of the events.
        public let pendingEvents: Digest16?
    }

    /// A reference to a part of a store.
    public struct StorePlace: Sendable, Hashable {
        /// The index of the store among the stores of the capture.
        public let store: Int
        /// The index of the part in ``Store/parts``.
        public let part: Int

        /// Creates a reference to the part at the index `part` of the store at the index `store`.
        package init(store: Int, part: Int) {
            self.store = store
            self.part = part
        }
    }

    /// The app that the records in a part of a store belong to.
    public struct AppEntry: Sendable {
        /// The part of the store that contains the records.
        public let place: StorePlace
        /// The app with its latest properties.
        public fileprivate(set) var latest: LatestApp
        /// The names of all apps that the records name, up to ``maximumNameCount``.
        public fileprivate(set) var names: Set<CapturedText> = []

        /// The maximum number of names, which limits the memory that hostile records can require.
        public static let maximumNameCount = 100
    }
}

extension ScanOutput.Entry {
    /// Creates the summary of a record that was written before and is passed on later.
    ///
    /// `line` and `written` are positions in the buffer that contains the record.
    public init(
        _ record: borrowing Record, line: Range<Int>, written: RecordLineLayout, key: RecordKey, rank: CopyRank,
        input: Int, place: ScanOutput.StorePlace?, leftOut: PseudonymCounts, sequenceNumber: SequenceNumber?
    ) {
        self.init(
            summary: RecordSummary(record), line: line, written: written, key: key, rank: rank,
            dependsOnSurroundings: true, input: input, place: place, leftOut: leftOut, sequenceNumber: sequenceNumber,
            pendingEvents: nil)
    }
}
