import Bytes
import Hashing
import JSONText

/// A buffer for the findings of a scan: records, quarantined data, problems and reports, in the order of the store.
///
/// An output with options applies the filter and the pseudonyms, and writes each added record as a line. An output
/// without options keeps the records unchanged.
public struct ScanOutput: Sendable {
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
    }

    /// A reference to a part of a store.
    public struct StorePlace: Sendable, Hashable {
        /// The index of the store among the stores of the capture.
        public let store: Int
        /// The index of the part in ``Store/parts``.
        public let part: Int
    }

    /// The app that the records in a part of a store belong to.
    public struct AppEntry: Sendable {
        /// The part of the store that contains the records.
        public let place: StorePlace
        /// The app with its latest properties.
        public fileprivate(set) var latest: LatestApp
    }

    /// A report that a store provides about its contents.
    public struct ReportEntry: Sendable {
        /// The index of the input that contains the store.
        public let input: Int
        /// The index of the store, or `nil` if the input is a bundle or a request log.
        public let store: Int?
        /// The report on the contents of the store.
        public let report: StoreReport
    }

    /// The records that were added, unchanged.
    ///
    /// The array is empty if the output writes records as lines.
    public private(set) var records: [Record] = []
    /// The added records as lines of canonical JSON, or no bytes if the output keeps records unchanged.
    public private(set) var lines = TextBuffer()
    /// The records that were written to ``lines``.
    public private(set) var entries: [Entry] = []
    /// The ranges of the current file that must still be put into quarantine.
    public var rejects: [Reject] = []
    /// The path of the current file in the capture.
    public var path: String
    /// The quarantined files and parts of files.
    public private(set) var quarantined: [QuarantineEntry] = []
    /// The problems of stores, files and folders.
    public private(set) var problems: [LocatedProblem] = []
    /// The reports that stores provide about their contents.
    public private(set) var reports: [ReportEntry] = []
    /// The apps of all records, including the records that the filter excludes.
    ///
    /// The array is empty if the options do not request store reports.
    public private(set) var apps: [AppEntry] = []
    /// The withdrawals that stores contain and that records cause, including records that the filter excludes.
    public private(set) var withdrawals: [Withdrawal] = []
    /// The findings of the filter about all records.
    public private(set) var filtered = FilterFindings()
    /// The number of records that were omitted because another store of the container contains equal records.
    public private(set) var duplicates = 0
    /// The first error that prevented the creation of pseudonyms, or `nil` if there was none.
    public private(set) var refusal: PseudonymError?
    /// The number of bytes that were read.
    public var bytesRead = 0
    /// The index of the current input.
    public let input: Int
    /// The label of the capture, or the path of a bundle.
    public let capture: String
    /// The index of the current store, or `nil` if the input is a bundle or a request log.
    public var store: Int?
    /// The switches for usage data that can apply to the records of the current store, or `nil` if there are none.
    public var usageData: UsageDataSwitches?

    private let filter: RecordFilter
    private let collectsApps: Bool
    /// Whether records are written as lines, because the output has options.
    private let writesLines: Bool
    private var pseudonymizer: RecordPseudonymizer?
    /// The systems whose sequence numbers are read, or `nil` if the options do not request sequence numbers.
    private let numberedSystems: SystemTable?
    /// The systems whose uploads can be requests for the deletion of data.
    private let systems: SystemTable?
    private let deletionRequestTypes: Set<CapturedText>
    /// The payload that is parsed again, for example to read its sequence number.
    private var payload = JSONDocument()
    /// The estimated size of all findings in bytes.
    private var size = 0
    /// The payload of an earlier record, kept to reuse its memory.
    private var recycled: [UInt8] = []

    /// The maximum capacity, in bytes, of a payload that is reused.
    private static let maximumRecycledSize = 16 << 10
    /// The maximum capacity, in bytes, of lines that are reused.
    private static let maximumRecycledLinesSize = 512 << 10

    /// The size, in bytes, at which an output is full.
    ///
    /// It limits the memory of a scan.
    public static let sizeGoal = 4 << 20
    /// The estimated size of a reject or a problem in bytes.
    public static let detailSize = 1 << 10
    /// The estimated size, in bytes, of a record without its payload and notes.
    private static let recordSize = 1 << 10

    /// Creates an output that keeps records unchanged.
    public init(capture: String, path: String = "") {
        self.capture = capture
        self.path = path
        input = 0
        filter = RecordFilter()
        collectsApps = false
        writesLines = false
        numberedSystems = nil
        systems = nil
        deletionRequestTypes = []
    }

    /// Creates an output that filters records, replaces ids by pseudonyms and writes the records as lines.
    public init(capture: String, input: Int, writingWith options: ScanOptions) {
        self.capture = capture
        path = ""
        self.input = input
        filter = options.filter
        collectsApps = options.reportsQueues
        writesLines = true
        pseudonymizer = options.pseudonymizer
        numberedSystems = options.numberedSystems
        systems = options.systems
        deletionRequestTypes = options.deletionRequestTypes
    }

    /// Whether the findings must be removed before more findings are added.
    public var isFull: Bool { size >= Self.sizeGoal }

    /// The number of rejects or problems that can be added until the output is full.
    var remainingDetailCount: Int { (max(0, Self.sizeGoal - size) + Self.detailSize - 1) / Self.detailSize }

    // MARK: Records

    /// Adds a record of the current store.
    ///
    /// `part` is an index into ``Store/parts``.
    public mutating func add(_ record: consuming Record, part: Int = 0) {
        guard writesLines else {
            count(record)
            return records.append(record)
        }
        let place = store.map { StorePlace(store: $0, part: part) }
        if collectsApps, let place, let app = record.app { collect(LatestApp(app, at: record.time), at: place) }
        if let hold = Self.holdForType(of: record) { record.held.insert(hold, at: 0) }
        holdIfOptedOut(&record)
        collectWithdrawals(by: record)
        guard filter.passes(record, noting: &filtered) else { return recycleMemory(of: &record) }
        count(record)
        do throws(PseudonymError) {
            // Equal records stay equal, because pseudonyms depend only on the record and the key.
            let leftOut = try pseudonymizer?.pseudonymize(&record) ?? PseudonymCounts()
            let start = lines.count
            let written = record.write(to: &lines)
            append(record, at: start..<lines.count, written, place: place, leftOut: leftOut)
        } catch {
            refusal = refusal ?? error
        }
        recycleMemory(of: &record)
    }

    /// Counts a record that is omitted because another store of the container contains an equal record.
    public mutating func omit(duplicate record: borrowing Record) {
        if filter.passes(record, noting: &filtered) { duplicates += 1 }
    }

    /// Adds the estimated size of `record` to the size of the findings.
    ///
    /// The size includes the notes, because they can be larger than the payload.
    private mutating func count(_ record: borrowing Record) {
        size += record.notes.reduce(Self.recordSize + record.payload.count) {
            $0 + $1.utf8.count + MemoryLayout<String>.stride
        }
    }

    /// Adds a record of a bundle.
    ///
    /// `line` is the range of the record in the bytes that are later passed to ``adopt(lines:)``.
    public mutating func add(_ record: borrowing Record, at line: Range<Int>, _ written: RecordLineLayout) {
        precondition(writesLines, "the output keeps records as they are")
        collectWithdrawals(by: record)
        guard filter.passes(record, noting: &filtered) else { return }
        append(record, at: line, written, place: nil, leftOut: PseudonymCounts())
    }

    /// Uses `text` as the lines of all records.
    public mutating func adopt(lines text: [UInt8]) { lines = TextBuffer(text) }

    private mutating func append(
        _ record: borrowing Record, at line: Range<Int>, _ written: RecordLineLayout, place: StorePlace?,
        leftOut: PseudonymCounts
    ) {
        let summary = RecordSummary(record)
        let number = sequenceNumber(of: record)
        entries.append(
            Entry(
                summary: summary, line: line, written: written, key: RecordKey(record),
                rank: record.held.isEmpty ? .notHeld : CopyRank(record.held),
                dependsOnSurroundings: dependsOnSurroundings(record.held), input: input, place: place,
                leftOut: leftOut, sequenceNumber: number))
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
    private mutating func holdIfOptedOut(_ record: inout Record) {
        guard let found = usageData?.applying(to: record.system, app: record.app), found.state == .off else { return }
        record.held.append(.optedOut)
        record.notes.append("\(Hold.optedOut.code) \(found.setting.key) is off in \(found.path)")
        if let client = record.client { withdraw(client: client, of: record.system, by: found) }
    }

    /// Withdraws the data of `client` if the user of the app in the current container has switched off usage data.
    ///
    /// This method is for clients in preferences, because a container can contain the id of its client but no record.
    public mutating func withdrawIfOptedOut(client: String, of system: SystemName) {
        guard let found = usageData?.applying(to: system, app: nil), found.state == .off else { return }
        withdraw(client: client, of: system, by: found)
    }

    private mutating func withdraw(client: String, of system: SystemName, by found: UsageDataSwitch) {
        let subject = Withdrawal.Subject(system, .client, id: client)
        let withdrawal = Withdrawal(.optedOut, of: subject, capture: capture, path: found.path)
        // Consecutive records mostly have the same client, so only the last withdrawal is compared.
        if withdrawals.last != withdrawal { report(withdrawal) }
    }

    private mutating func collectWithdrawals(by record: borrowing Record) {
        // Pseudonyms identify no client.
        guard deletionRequestTypes.contains(record.type), record.pseudonymKeyID == nil,
            let uploads = systems?[record.system]?.uploads, uploads.precedence.first.contains(record.type)
        else { return }
        withdrawals += uploads.withdrawals(by: record, using: &payload)
    }

    private mutating func collect(_ app: LatestApp, at place: StorePlace) {
        // Consecutive records mostly belong to the same part, so only the last part is compared.
        if let last = apps.indices.last, apps[last].place == place {
            apps[last].latest.add(app)
        } else {
            apps.append(AppEntry(place: place, latest: app))
        }
    }

    /// Returns an empty array for the next payload.
    ///
    /// The array reuses the memory of an earlier payload if possible.
    public mutating func takeRecycledMemory() -> [UInt8] {
        var memory: [UInt8] = []
        swap(&memory, &recycled)
        memory.removeAll(keepingCapacity: true)
        return memory
    }

    private mutating func recycleMemory(of record: inout Record) {
        swap(&record.payload, &recycled)
        if recycled.capacity > Self.maximumRecycledSize { recycled = [] }
    }

    // MARK: Problems, rejects and reports

    /// Adds a problem with the current file.
    public mutating func report(_ problem: Problem) { report(problem, path: path) }

    /// Adds a problem with the file or folder at `path` in the capture.
    public mutating func report(_ problem: Problem, path: String) {
        report(LocatedProblem(capture: capture, path: path, problem: problem))
    }

    /// Adds a problem that states its own capture and path.
    ///
    /// If the input is a bundle, the problem may concern another capture.
    public mutating func report(_ problem: LocatedProblem) {
        size += Self.detailSize
        problems.append(problem)
    }

    /// Adds a withdrawal that a file of the capture contains.
    public mutating func report(_ withdrawal: Withdrawal) {
        size += Self.detailSize
        withdrawals.append(withdrawal)
    }

    /// Adds a withdrawal of `subject` that the file at `path` in the capture contains.
    public mutating func report(_ reason: Withdrawal.Reason, of subject: Withdrawal.Subject, path: String) {
        report(Withdrawal(reason, of: subject, capture: capture, path: path))
    }

    /// Adds a report on the current store.
    public mutating func report(_ report: StoreReport) {
        reports.append(ReportEntry(input: input, store: store, report: report))
    }

    /// Puts a file or a part of it into quarantine.
    public mutating func quarantine(_ item: QuarantineEntry) {
        size += Self.detailSize
        quarantined.append(item)
    }

    /// Puts the bytes of `contents` that `reject` specifies into quarantine.
    ///
    /// If the file can contain credentials, only the hash of these bytes is kept.
    public mutating func quarantine(
        _ reject: Reject, of contents: [UInt8], path: String, kind: StoreKind, carriesCredentials: Bool
    ) {
        let bytes = contents[reject.range(inFileOf: contents.count)]
        let sha256: String
        if let last = quarantined.last, last.path == path, last.size == contents.count, bytes.count == contents.count {
            // A file with many rejects is hashed only once.
            sha256 = last.sha256
        } else {
            sha256 = SHA256.hash(bytes.span).hex
        }
        quarantine(
            QuarantineEntry(
                capture: capture, path: path, store: kind, reject: reject, size: bytes.count, sha256: sha256,
                isStored: !carriesCredentials))
    }

    /// Removes and returns the rejects of the last file.
    public mutating func takeRejects() -> [Reject] {
        defer { rejects = [] }
        return rejects
    }

    // MARK: Reuse

    /// Removes all findings.
    ///
    /// The memory of lines and entries is kept for reuse.
    public mutating func removeAll() {
        lines.removeAll()
        entries.removeAll(keepingCapacity: true)
        (records, rejects, quarantined, problems, reports, apps, withdrawals) = ([], [], [], [], [], [], [])
        (filtered, refusal, path, store, usageData) = (FilterFindings(), nil, "", nil, nil)
        (bytesRead, size, duplicates) = (0, 0, 0)
    }

    /// Whether the output is small enough to be kept for reuse.
    public var isWorthReusing: Bool { lines.capacity <= Self.maximumRecycledLinesSize }
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
            dependsOnSurroundings: true, input: input, place: place, leftOut: leftOut, sequenceNumber: sequenceNumber)
    }
}
