import Hashing
import JSONText

/// The findings of a scan since they were last taken: records, rejects, problems and reports, in the order of the store.
///
/// The readers of the systems add records to an output. An output that was created with options applies the filter, replaces
/// ids by pseudonyms if this is asked for, and writes each record as a line at once. An output without options keeps the
/// records as they are.
public struct ScanOutput: Sendable {
    /// The summary of a written record.
    public struct Entry: Sendable {
        /// The parts of the record that are counted.
        public let summary: RecordSummary
        /// The range of the line, including its line feed, in ``ScanOutput/lines``.
        public let line: Range<Int>
        /// The positions of the notes and the payload in ``ScanOutput/lines``.
        public let written: RecordLineLayout
        /// The key that decides if two records are duplicates.
        public let key: RecordKey
        /// The index of the input that the record was read from.
        public let input: Int
        /// The store that the record was read from, or `nil` for a bundle and for a request log that is an input.
        public let place: StorePlace?
        /// The numbers of values that were omitted to make pseudonyms.
        public let leftOut: PseudonymCounts
    }

    /// A part of a store of an input.
    public struct StorePlace: Sendable, Hashable {
        /// The index of the store.
        public let store: Int
        /// The index of the part in ``Store/parts``.
        public let part: Int
    }

    /// The app of the records of a part of a store, with properties of later records taking precedence.
    public struct AppEntry: Sendable {
        /// The part of the store.
        public let place: StorePlace
        /// The app.
        public fileprivate(set) var app: App
    }

    /// The report of a store about itself.
    public struct ReportEntry: Sendable {
        /// The index of the input.
        public let input: Int
        /// The index of the store, or `nil` for an output that keeps records as they are.
        public let store: Int?
        /// The report.
        public let report: StoreReport
    }

    /// The records, if the output keeps them as they are.
    public private(set) var records: [Record] = []
    /// The lines of the records, one after another.
    public private(set) var lines = TextBuffer()
    /// The records that were written to ``lines``.
    public private(set) var entries: [Entry] = []
    /// The rejects of the file that is being read, to be put into quarantine with its bytes.
    public var rejects: [Reject] = []
    /// The path, in the capture, of the file that is being read.
    public var path: String
    /// The spans and files that were put into quarantine.
    public private(set) var quarantined: [QuarantineEntry] = []
    /// The problems.
    public private(set) var problems: [LocatedProblem] = []
    /// The reports of stores about themselves.
    public private(set) var reports: [ReportEntry] = []
    /// The apps of all records, including excluded ones, if the options request reports of stores.
    public private(set) var apps: [AppEntry] = []
    /// The findings of the filter, including those about excluded records.
    public private(set) var filtered = FilterFindings()
    /// The first error that prevented pseudonyms from being made.
    public private(set) var refusal: PseudonymError?
    /// The number of bytes that were read.
    public var bytesRead = 0
    /// The index of the input that is being read.
    public let input: Int
    /// The index of the store that is being read, or `nil` for a bundle and for a request log that is an input.
    public var store: Int?

    private let capture: String
    private let filter: RecordFilter
    private let collectsApps: Bool
    /// The random numbers for the keys of records, or `nil` if records are kept as they are.
    private let secret: RunSecret?
    private var pseudonymizer: RecordPseudonymizer?
    /// The number of bytes of payloads and notes, and an allowance for each finding.
    private var size = 0
    /// The payload of the last record, whose memory is reused because allocating memory for each payload is slow.
    private var recycled: [UInt8] = []

    /// The maximum capacity, in bytes, of a payload that is reused.
    private static let maximumRecycledSize = 16 << 10
    /// The maximum capacity, in bytes, of lines that are reused.
    private static let maximumRecycledLinesSize = 512 << 10

    /// The size, in bytes, at which an output is full, which bounds the memory of a scan.
    public static let sizeGoal = 4 << 20
    /// The size, in bytes, that a reject or a problem counts as, which is roughly the size of its strings.
    public static let detailSize = 1 << 10
    /// The size, in bytes, that a record counts as in addition to its payload and notes.
    private static let recordSize = 1 << 10

    /// Creates an output that keeps records as they are.
    public init(capture: String, path: String = "") {
        self.capture = capture
        self.path = path
        input = 0
        filter = RecordFilter()
        collectsApps = false
        secret = nil
    }

    /// Creates an output that writes records as lines, with the filter and the pseudonyms of the options.
    public init(capture: String, input: Int, writingWith options: ScanOptions) {
        self.capture = capture
        path = ""
        self.input = input
        filter = options.filter
        collectsApps = options.reportsQueues
        secret = options.secret
        pseudonymizer = options.pseudonymizer
    }

    /// Whether the findings have to be taken before more are added.
    public var isFull: Bool { size >= Self.sizeGoal }

    /// The number of rejects and problems that fill the output.
    var remainingDetailCount: Int { (max(0, Self.sizeGoal - size) + Self.detailSize - 1) / Self.detailSize }

    // MARK: Records

    /// Adds a record of the part with the given index in ``Store/parts``.
    public mutating func add(_ record: consuming Record, part: Int = 0) {
        guard let secret else {
            count(record)
            return records.append(record)
        }
        let place = store.map { StorePlace(store: $0, part: part) }
        if collectsApps, let place, let app = record.app { collect(app, at: place) }
        if let hold = Self.holdForType(of: record) { record.held.insert(hold, at: 0) }
        guard filter.passes(record, noting: &filtered) else { return recycleMemory(of: &record) }
        count(record)
        do throws(PseudonymError) {
            // Equal records stay equal, because pseudonyms depend only on the record and the key.
            let leftOut = try pseudonymizer?.pseudonymize(&record) ?? PseudonymCounts()
            let start = lines.count
            let written = record.write(to: &lines)
            append(record, at: start..<lines.count, written, secret, place: place, leftOut: leftOut)
        } catch {
            refusal = refusal ?? error
        }
        recycleMemory(of: &record)
    }

    /// Adds the size of a record, whose notes can exceed the payload if it consists of many small requests.
    private mutating func count(_ record: borrowing Record) {
        size += record.notes.reduce(Self.recordSize + record.payload.count) {
            $0 + $1.utf8.count + MemoryLayout<String>.stride
        }
    }

    /// Adds a record of a bundle, whose line is a range of the bytes passed to ``adopt(lines:)`` afterwards.
    public mutating func add(_ record: borrowing Record, at line: Range<Int>, _ written: RecordLineLayout) {
        guard let secret else { preconditionFailure("the output keeps records as they are") }
        guard filter.passes(record, noting: &filtered) else { return }
        append(record, at: line, written, secret, place: nil, leftOut: PseudonymCounts())
    }

    /// Uses `text` as the lines of all records.
    public mutating func adopt(lines text: [UInt8]) { lines = TextBuffer(text) }

    private mutating func append(
        _ record: borrowing Record, at line: Range<Int>, _ written: RecordLineLayout, _ secret: RunSecret,
        place: StorePlace?, leftOut: PseudonymCounts
    ) {
        entries.append(
            Entry(
                summary: RecordSummary(record), line: line, written: written,
                key: RecordKey(record, secret: secret), input: input, place: place, leftOut: leftOut))
    }

    /// Returns the hold of a record without a type, for which servers have neither a path nor a limit.
    private static func holdForType(of record: borrowing Record) -> Hold? {
        guard record.type.isEmpty, !record.held.contains(where: \.isSchema) else { return nil }
        return .schema(["type is empty"])
    }

    private mutating func collect(_ app: App, at place: StorePlace) {
        // The records of a part are added one after another.
        if let last = apps.indices.last, apps[last].place == place {
            apps[last].app = app.filled(from: apps[last].app)
        } else {
            apps.append(AppEntry(place: place, app: app))
        }
    }

    /// Returns an empty array for the next payload, with the capacity of an earlier one if there was one.
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

    /// Adds a problem with the file that is being read.
    public mutating func report(_ problem: Problem) { report(problem, path: path) }

    /// Adds a problem with the file or folder at `path` in the capture.
    public mutating func report(_ problem: Problem, path: String) {
        report(LocatedProblem(capture: capture, path: path, problem: problem))
    }

    /// Adds a problem, which may belong to another capture if the input is a bundle.
    public mutating func report(_ problem: LocatedProblem) {
        size += Self.detailSize
        problems.append(problem)
    }

    /// Adds the report of the store about itself.
    public mutating func report(_ report: StoreReport) {
        reports.append(ReportEntry(input: input, store: store, report: report))
    }

    /// Puts a span or a file into quarantine.
    public mutating func quarantine(_ item: QuarantineEntry) {
        size += Self.detailSize
        quarantined.append(item)
    }

    /// Puts a span of a file into quarantine, listing only its hash if the file can contain credentials.
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

    /// Removes and returns the rejects of the file that was read.
    public mutating func takeRejects() -> [Reject] {
        defer { rejects = [] }
        return rejects
    }

    // MARK: Reuse

    /// Removes all findings, but keeps the memory of lines and entries because reallocating it is slow.
    public mutating func removeAll() {
        lines.removeAll()
        entries.removeAll(keepingCapacity: true)
        (records, rejects, quarantined, problems, reports, apps) = ([], [], [], [], [], [])
        (filtered, refusal, path, store, bytesRead, size) = (FilterFindings(), nil, "", nil, 0, 0)
    }

    /// Whether the output is small enough to be reused, which it is not after large records.
    public var isWorthReusing: Bool { lines.capacity <= Self.maximumRecycledLinesSize }
}
