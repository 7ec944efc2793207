import Bytes
import CLibrary
import Files
import Hashing
import JSONText
import Synchronization

/// The sink for the findings of a scan: records, quarantined data, problems and reports, in the order of the store.
///
/// A ``RecordWriter`` filters the records and writes them as lines. A reject is final: its bytes are stored in the
/// ``QuarantineSpool`` of the options at once.
public struct ScanOutput: Sendable {
    /// A report that a store provides about its contents.
    public struct ReportEntry: Sendable {
        /// The index of the input that contains the store.
        public let input: Int
        /// The index of the store, or `nil` if the input is a bundle or a request log.
        public let store: Int?
        /// The report on the contents of the store.
        public let report: StoreReport
    }

    private var writer: RecordWriter
    /// The file whose problems and rejects are added.
    private var file = OpenFile.none
    /// The quarantined files and parts of files.
    public private(set) var quarantined: [QuarantineEntry] = []
    /// The problems of stores, files and folders.
    public private(set) var problems: [LocatedProblem] = []
    /// The reports that stores provide about their contents.
    public private(set) var reports: [ReportEntry] = []
    /// The number of bytes that were read.
    public var bytesRead = 0
    /// Whether the records are from quarantined items of a bundle, which may contain the same records already.
    public var isReread = false
    /// The number of quarantined items that were understood, so that they leave the quarantine.
    public var rereadItemCount = 0
    /// The index of the current input.
    public let input: Int
    /// The label of the capture, or the path of a bundle.
    public let capture: String
    /// The index of the current store, or `nil` if the input is a bundle or a request log.
    public var store: Int?
    /// The switches for usage data that can apply to the records of the current store, or `nil` if there are none.
    public var usageData: UsageDataSwitches?
    private let quarantine: QuarantineSpool?
    private let quarantineFileLimit: Int
    /// The estimated size of all findings except for records, in bytes.
    private var detailsSize = 0

    /// The size, in bytes, at which an output is full.
    ///
    /// It limits the memory of a scan.
    public static let sizeGoal = 4 << 20
    /// The estimated size of a reject or a problem in bytes.
    public static let detailSize = 1 << 10

    /// Creates an empty output for the input at the index `input`.
    public init(capture: String, input: Int = 0, writingWith options: ScanOptions = ScanOptions()) {
        self.capture = capture
        self.input = input
        writer = RecordWriter(capture: capture, input: input, options)
        quarantine = options.quarantine
        quarantineFileLimit = options.quarantineFileLimit
    }

    /// Whether the findings must be removed before more findings are added.
    public var isFull: Bool { writer.size + detailsSize >= Self.sizeGoal }

    /// Calls `read` with this output until the output is full or `read` returns `false`, which means that there is
    /// nothing left to read.
    ///
    /// Returns whether there is more to read.
    ///
    /// - Throws: `CancellationError`, and the errors of `read`.
    public mutating func fill(_ read: (inout ScanOutput) throws -> Bool) throws -> Bool {
        while !isFull {
            try Task.checkCancellation()
            guard try read(&self) else { return false }
        }
        return true
    }

    // MARK: Records

    /// The added records as lines of canonical JSON.
    public var lines: TextBuffer { writer.lines }
    /// The records that were written to ``lines``.
    public var entries: [Entry] { writer.entries }
    /// The apps of all records, including the records that the filter excludes.
    ///
    /// The array is empty if the options do not request store reports.
    public var apps: [AppEntry] { writer.apps }
    /// The withdrawals that stores contain and that records cause, including records that the filter excludes.
    public var withdrawals: [Withdrawal] { writer.withdrawals }
    /// The findings of the filter about all records.
    public var filtered: FilterFindings { writer.filtered }
    /// The number of records that were omitted because another store of the container contains equal records.
    public var duplicates: Int { writer.duplicates }
    /// The records that ``duplicates`` counts, if the options request them.
    public var droppedCopies: [DroppedCopy] { writer.droppedCopies }

    /// Adds a record of the current store.
    ///
    /// `part` is an index into ``Store/parts``.
    ///
    /// - Throws: `PseudonymError` if the record cannot be pseudonymized.
    public mutating func add(_ record: consuming Record, part: Int = 0) throws(PseudonymError) {
        try writer.write(record, at: store.map { StorePlace(store: $0, part: part) }, usageData)
    }

    /// Adds a record of events that are not yet included in a ping, with fields that were borrowed from their
    /// surroundings.
    ///
    /// Another copy of the events in the capture can have other borrowed fields.
    ///
    /// - Throws: `PseudonymError` if the record cannot be pseudonymized.
    public mutating func addPendingEvents(_ record: consuming Record, part: Int = 0) throws(PseudonymError) {
        try writer.writePendingEvents(record, at: store.map { StorePlace(store: $0, part: part) }, usageData)
    }

    /// Counts a record that is omitted because another store of the container contains an equal record.
    public mutating func omit(duplicate record: borrowing Record) { writer.omit(duplicate: record) }

    /// Adds a record of a bundle.
    ///
    /// `line` is the range of the record in the bytes that are later passed to ``adopt(lines:)``.
    public mutating func add(_ record: borrowing Record, at line: Range<Int>, _ written: RecordLineLayout) {
        writer.add(record, at: line, written)
    }

    /// Uses `text` as the lines of all records.
    public mutating func adopt(lines text: [UInt8]) { writer.adopt(lines: text) }

    /// Withdraws the data of `client` if the user of the app in the current container has switched off usage data.
    ///
    /// This method is for clients in preferences, because a container can contain the id of its client but no record.
    public mutating func withdrawIfOptedOut(client: String, of system: SystemName) {
        writer.withdrawIfOptedOut(client: client, of: system, usageData)
    }

    // MARK: Problems and reports

    /// Calls `body` with this output, whose problems and rejects then concern `file`.
    public mutating func withFile<Value>(
        _ file: inout OpenFile, _ body: (inout ScanOutput) throws -> Value
    ) rethrows -> Value {
        swap(&self.file, &file)
        defer { swap(&self.file, &file) }
        return try body(&self)
    }

    /// Adds a problem with the current file.
    public mutating func report(_ problem: Problem) { report(problem, path: file.file.path) }

    /// Adds a problem with the file or folder at `path` in the capture.
    public mutating func report(_ problem: Problem, path: String) {
        report(LocatedProblem(capture: capture, path: path, problem: problem))
    }

    /// Adds a problem that states its own capture and path.
    ///
    /// If the input is a bundle, the problem may concern another capture.
    public mutating func report(_ problem: LocatedProblem) {
        detailsSize += Self.detailSize
        problems.append(problem)
    }

    /// Adds a withdrawal that a file of the capture contains.
    public mutating func report(_ withdrawal: Withdrawal) {
        detailsSize += Self.detailSize
        writer.withdrawals.append(withdrawal)
    }

    /// Adds a withdrawal of `subject` that the file at `path` in the capture contains.
    public mutating func report(_ reason: Withdrawal.Reason, of subject: Withdrawal.Subject, path: String) {
        report(Withdrawal(reason, of: subject, capture: capture, path: path))
    }

    /// Adds a report on the current store.
    public mutating func report(_ report: StoreReport) {
        reports.append(ReportEntry(input: input, store: store, report: report))
    }

    // MARK: Rejects

    /// Puts a range of the current file into quarantine.
    ///
    /// If the file can contain credentials, only the hash of the range is kept. If the user of the app has switched off
    /// usage data, the reason states it, because the preferences are not in the quarantine.
    ///
    /// - Throws: `FileError` if the file cannot be read, or with the operation `spool` if there is no space.
    public mutating func reject(_ reject: Reject) throws(FileError) {
        let range = reject.range(inFileOf: file.count)
        let isStored = try !file.carriesCredentials
        let sha256 = try file.hash(range, storingIn: isStored ? quarantine : nil, limit: quarantineFileLimit)
        var reject = reject
        if let off = usageData?.switches.first(where: { $0.state == .off }) { reject.reason += "; \(off.sentence)" }
        quarantine(
            QuarantineEntry(
                capture: capture, path: file.file.path, store: file.file.kind, reject: reject, size: range.count,
                sha256: sha256.hex, isStored: isStored))
    }

    /// Puts rejects of the current file into quarantine until the output is full.
    ///
    /// Returns whether there are more.
    public mutating func reject(_ rejects: inout ArraySlice<Reject>) throws(FileError) -> Bool {
        while !isFull, let next = rejects.popFirst() { try reject(next) }
        return !rejects.isEmpty
    }

    /// Adds an entry of the quarantine whose bytes were stored before, or are not stored.
    public mutating func quarantine(_ item: QuarantineEntry) {
        detailsSize += Self.detailSize
        quarantined.append(item)
    }

    // MARK: Reuse

    /// Removes all findings.
    ///
    /// The memory of lines and entries is kept for reuse.
    public mutating func removeAll() {
        writer.removeAll()
        (quarantined, problems, reports) = ([], [], [])
        (file, store, usageData) = (.none, nil, nil)
        (bytesRead, detailsSize) = (0, 0)
    }

    /// Whether the output is small enough to be kept for reuse.
    public var isWorthReusing: Bool { writer.isWorthReusing }
}

/// The bytes of quarantined files and byte ranges, stored in an unnamed file until a bundle is written.
///
/// Equal bytes are stored once. The type is a class because all jobs add to the same file.
public final class QuarantineSpool: Sendable {
    private struct State {
        var file: SpoolFile?
        /// The size of the file in bytes.
        var size = 0
        var ranges: [ContentHash: Range<Int>] = [:]
        var remainingSize: Int
    }

    private let folder: String
    private let state: Mutex<State>

    /// Creates an empty spool whose file will be created in `folder`.
    ///
    /// `limit` is the maximum total size of the bytes that a bundle will contain.
    public init(folder: String, limit: Int) {
        self.folder = folder
        state = Mutex(State(remainingSize: limit))
    }

    /// Notes that the bundle has space for at most `size` more bytes.
    ///
    /// Longer bytes are then not stored, so that the file does not become much larger than the bundle.
    public func noteRemainingSize(_ size: Int) { state.withLock { $0.remainingSize = size } }

    /// Stores bytes with the hash `sha256`.
    ///
    /// - Throws: `FileError` with the operation `spool`.
    func store(_ bytes: Span<UInt8>, sha256: ContentHash) throws(FileError) {
        try state.withLock { state throws(FileError) in
            guard bytes.count <= state.remainingSize, state.ranges[sha256] == nil else { return }
            let file = if let present = state.file { present } else { try SpoolFile(in: folder) }
            state.file = file
            try file.write(bytes, at: state.size)
            state.ranges[sha256] = state.size..<state.size + bytes.count
            state.size += bytes.count
        }
    }

    /// Returns the bytes with the hash `sha256`, or `nil` if they are not stored.
    ///
    /// - Throws: `FileError` with the operation `spool`.
    public func bytes(of sha256: ContentHash) throws(FileError) -> [UInt8]? {
        let (file, range) = state.withLock { ($0.file, $0.ranges[sha256]) }
        guard let file, let range else { return nil }
        let bytes = try ByteSource(file, at: range.lowerBound, count: range.count).bytes(at: 0, count: range.count)
        guard ContentHash(of: bytes) == sha256 else { throw FileError(.spool, folder, code: EIO) }
        return bytes
    }
}
