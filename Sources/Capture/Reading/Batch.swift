import JSONText
import Telemetry

/// A run of records and what else was found while reading them, in the order of the capture.
public struct Batch: Sendable {
    /// The records' lines, one after another.
    public private(set) var lines = TextBuffer()
    /// The records.
    public private(set) var records: [Entry] = []
    /// What could not be understood.
    public internal(set) var quarantined: [QuarantineEntry] = []
    /// What is worth telling.
    public internal(set) var problems: [PlacedProblem] = []
    /// The reports of stores about themselves.
    public private(set) var reports: [ReportEntry] = []
    /// Bytes that were read.
    public internal(set) var bytesRead = 0
    /// What the filter met, also in records that it left out.
    public internal(set) var filtered = FilterFindings()
    /// The apps that records tell, also those that the filter left out, where stores are asked to report.
    public private(set) var apps: [AppEntry] = []
    /// Why pseudonyms cannot be made of a record, which ends the reading.
    private(set) var refusal: PseudonymError?

    /// A record in short, and the place of its line.
    public struct Entry: Sendable {
        /// The record in short.
        public let summary: RecordSummary
        /// The line with its line feed, in ``Batch/lines``.
        public let line: Range<Int>
        /// Where the notes and the payload stand, in ``Batch/lines``.
        let written: WrittenRecord
        /// Two records with equal keys are duplicates.
        public let key: RecordKey
        /// The input that it came from, counted from 0.
        public let input: Int
        /// The store that it came from; nil for a bundle.
        public let place: StorePlace?
        /// What of its payload was left out to make pseudonyms.
        public let leftOut: PseudonymCounts
    }

    /// A part of a store, by its number and that of the store among those of the input.
    public struct StorePlace: Sendable, Hashable {
        /// The number of the store.
        public let store: Int
        /// The number of the part; see `Store.parts`.
        public let part: Int
    }

    /// The report of a store about itself.
    public struct ReportEntry: Sendable {
        /// The input that it came from, counted from 0.
        public let input: Int
        /// The number of the store.
        public let store: Int
        /// The report.
        public let report: StoreReport
    }

    /// What the records of a part of a store tell of its app, the last ones counting most.
    public struct AppEntry: Sendable {
        /// The input that it came from, counted from 0.
        public let input: Int
        /// The part of the store; nil for a bundle.
        public let place: StorePlace?
        /// The app.
        public var app: App
    }

    /// A reject, and the input that it came from.
    public struct QuarantineEntry: Sendable {
        /// The input that it came from, counted from 0.
        public let input: Int
        /// What it is.
        public var item: Quarantined
    }

    /// A batch is handed on when it holds this many bytes, so that memory does not grow with the input.
    static let sizeGoal = 4 << 20
    /// It is also handed on when it holds this many rejects and problems.
    static let findingsGoal = 4096

    /// Whether it is to be handed on.
    var isFull: Bool {
        lines.count >= Self.sizeGoal || quarantined.count + problems.count >= Self.findingsGoal
    }

    /// A batch whose memory is at most this large is worth keeping.
    private static let largestSpare = 512 << 10

    /// Forgets everything and keeps the memory of lines and records: memory that grows costs as much as what is done with it.
    /// - Returns: whether the memory is worth keeping: not if large records have made it large.
    mutating func empty() -> Bool {
        var spare = Batch()
        swap(&spare.lines, &lines)
        swap(&spare.records, &records)
        spare.lines.removeAll()
        spare.records.removeAll(keepingCapacity: true)
        self = spare
        return lines.capacity <= Self.largestSpare
    }

    /// Takes a record that was read, if it is wanted, and makes pseudonyms of what it tells where they are asked for.
    ///
    /// Equal records are equal with their pseudonyms too, and so are those that were given pseudonyms before: that is what
    /// duplicates are told by.
    mutating func take(
        _ record: borrowing Record, input: Int, place: StorePlace?, _ options: HarvestOptions,
        _ pseudonymizer: inout RecordPseudonymizer?
    ) {
        if let hold = Self.holdForType(of: record) {
            var held = copy record
            held.held.insert(hold, at: 0)
            return take(held, input: input, place: place, options, &pseudonymizer)
        }
        guard options.filter.passes(record, noting: &filtered) else { return }
        guard pseudonymizer != nil else {
            return append(record, key: RecordKey(record, secret: options.scan.secret), input: input, place: place)
        }
        var record = copy record
        do throws(PseudonymError) {
            let leftOut = try pseudonymizer?.pseudonymize(&record) ?? PseudonymCounts()
            let key = RecordKey(record, secret: options.scan.secret)
            append(record, key: key, input: input, place: place, leftOut: leftOut)
        } catch {
            refusal = refusal ?? error
        }
    }

    /// Why a record without a type is held: no server knows a path for it, and no limit for each type applies.
    private static func holdForType(of record: borrowing Record) -> Hold? {
        guard record.type.isEmpty, !record.held.contains(where: \.isSchema) else { return nil }
        return .schema(["type is empty"])
    }

    mutating func append(
        _ record: borrowing Record, key: RecordKey, input: Int, place: StorePlace?,
        leftOut: PseudonymCounts = PseudonymCounts()
    ) {
        let start = lines.count
        let written = record.write(to: &lines)
        records.append(
            Entry(
                summary: RecordSummary(record), line: start..<lines.count, written: written, key: key,
                input: input, place: place, leftOut: leftOut))
    }

    /// Takes a record, if it is wanted, whose line stands in a text that is ``adopt(lines:)``ed when all are taken: nothing is
    /// written again.
    mutating func take(
        _ record: borrowing Record, at line: Range<Int>, _ written: WrittenRecord, input: Int, _ options: HarvestOptions
    ) {
        guard options.filter.passes(record, noting: &filtered) else { return }
        records.append(
            Entry(
                summary: RecordSummary(record), line: line, written: written,
                key: RecordKey(record, secret: options.scan.secret), input: input, place: nil,
                leftOut: PseudonymCounts()))
    }

    /// Makes a text that of the lines of all records.
    mutating func adopt(lines text: [UInt8]) { lines = TextBuffer(text) }

    private mutating func learn(_ app: App?, input: Int, place: StorePlace?) {
        guard let app else { return }
        // Records of a part come one after another.
        if let last = apps.indices.last, apps[last].place == place, apps[last].input == input {
            apps[last].app = app.filled(from: apps[last].app)
        } else {
            apps.append(AppEntry(input: input, place: place, app: app))
        }
    }

    /// Takes what was read of a store.
    /// - Parameter store: the number of the store; nil for a log that is an input by itself.
    mutating func take(_ output: inout ScanOutput, input: Int, store: Int?, _ options: HarvestOptions) {
        var pseudonymizer = options.pseudonymizer
        takeRecords(of: &output, input: input, store: store, options, &pseudonymizer)
        quarantined += output.quarantined.map { QuarantineEntry(input: input, item: $0) }
        problems += output.problems
        if let store { reports += output.reports.map { ReportEntry(input: input, store: store, report: $0) } }
        bytesRead += output.bytesRead
        output.removeAll()
    }

    /// Takes the records alone.
    mutating func takeRecords(
        of output: inout ScanOutput, input: Int, store: Int?, _ options: HarvestOptions,
        _ pseudonymizer: inout RecordPseudonymizer?
    ) {
        output.handOnRecords { found in
            let place = store.map { StorePlace(store: $0, part: found.part) }
            if options.scan.reportsQueues { learn(found.record.app, input: input, place: place) }
            take(found.record, input: input, place: place, options, &pseudonymizer)
        }
    }
}
