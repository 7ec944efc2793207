import Bundle
import Parallel
import Telemetry

/// An opened input, from which records are read.
public enum CaptureInput: Sendable {
    /// A folder pulled from a device, or a single store file.
    case folder(CapturedFolder)
    /// A bundle, read by its manifest.
    case bundle(BundleReader)
    /// A damaged bundle.
    case salvage(SalvagedBundle)
    /// A request log by itself.
    case log(RequestLog)

    /// Whether the input is an intact bundle, whose quarantine and problems were reported when it was made.
    public var isBundle: Bool {
        if case .bundle = self { true } else { false }
    }

    /// How many bytes are going to be read; nil if that cannot be told in front.
    /// - Parameter segments: which segments of a bundle are read, counted from 0; nil for all.
    public func byteCount(ofSegments segments: Range<Int>? = nil) -> Int? {
        switch self {
        case .bundle(let bundle): bundle.manifest.segments(in: segments).reduce(0) { $0 + $1.bytes }
        case .log(let log): PlainText.count(in: log.source)
        case .folder, .salvage: nil
        }
    }

    /// The id of the key that a bundle says all its records have pseudonyms of; nil for any other input.
    public var pseudonymized: String? {
        if case .bundle(let bundle) = self { bundle.manifest.pseudonymized } else { nil }
    }
}

extension Manifest {
    /// The segments of a range of places, counted from 0; all where there is none.
    fileprivate func segments(in range: Range<Int>?) -> ArraySlice<Segment> {
        segments[range?.clamped(to: segments.indices) ?? segments.indices]
    }
}

/// How inputs are to be read.
public struct HarvestOptions: Sendable {
    /// Which records are wanted.
    public var filter: RecordFilter
    /// How stores are read.
    public var scan: ScanOptions
    /// What makes pseudonyms; nil where records are wanted as they are.
    public var pseudonymizer: RecordPseudonymizer?
    /// Which segments of a bundle are read, counted from 0; nil for all. Its quarantine and its problems come with the last
    /// one.
    public var segments: Range<Int>?

    /// Makes options.
    public init(
        filter: RecordFilter, scan: ScanOptions, pseudonymizer: RecordPseudonymizer? = nil, segments: Range<Int>? = nil
    ) {
        self.segments = segments
        self.filter = filter
        self.scan = scan
        self.pseudonymizer = pseudonymizer
    }
}

/// Reads an input in parallel and hands on what it holds in order: stores by path, records as the format of a store orders
/// them.
public struct Harvest {
    private let input: CaptureInput
    private let number: Int
    private let options: HarvestOptions
    private let limit: JobLimit

    /// Keeps what is to be read, and how; nothing is read yet.
    /// - Parameter number: the number of the input among those of the command, from 0.
    public init(_ input: CaptureInput, number: Int, options: HarvestOptions, limit: JobLimit) {
        self.input = input
        self.number = number
        self.limit = limit
        var options = options
        options.scan.spread = { limit.spread($0, $1) }
        self.options = options
    }

    /// Reads everything through the intake.
    /// - Parameters:
    ///   - intake: takes the batches in order.
    ///   - keep: takes each record that is kept, its line, and the part of the line that is its payload.
    ///   - note: takes what else is found.
    ///   - afterBatch: is told of each batch that was taken how many bytes were read for it, and how many records it had.
    /// - Throws: `BundleError` for a damaged bundle, `PseudonymError` for a record that has pseudonyms of another key, and what
    ///   `keep` and `afterBatch` throw.
    public func run(
        into intake: inout Intake,
        keep: (borrowing Batch.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void,
        note: (Intake.Finding) -> Void = { _ in },
        afterBatch: (_ bytes: Int, _ records: Int) async throws -> Void = { _, _ in }
    ) async throws {
        try await run { batch in
            try intake.take(batch, fromBundle: input.isBundle, keep: keep, note: note)
            try await afterBatch(batch.bytesRead, batch.records.count)
        }
    }

    /// Reads everything.
    /// - Parameter consume: takes the batches in order.
    /// - Throws: `BundleError` for a damaged bundle, and what `consume` throws.
    func run(_ consume: (Batch) async throws -> Void) async throws {
        switch input {
        case .folder(let capture): try await read(capture, consume)
        case .bundle(let bundle): try await read(bundle, consume)
        case .salvage(let bundle):
            let scan = try SalvageScan(bundle, input: number, options)
            while let batch = try scan.next() { try await consume(batch) }
        case .log(let log): try await log.read(input: number, options, limit: limit, consume)
        }
    }

    private func read(_ capture: CapturedFolder, _ consume: (Batch) async throws -> Void) async throws {
        var leading = Batch()
        leading.problems = capture.problems
        try await consume(leading)
        let units = ScanUnit.split(capture, input: number)
        let spares = SparePool<Batch, Never>(keeping: limit.jobs + 1) { Batch() }
        try await inParallel(units) { [options] unit in
            try unit.read(options, into: spares.take())
        } consume: { result in
            var (batch, rest) = result
            try await consume(batch)
            // What does not fit in a batch is rare and large: it goes on here, one batch at a time.
            while let unit = rest {
                (batch, rest) = try unit.read(options)
                try await consume(batch)
            }
            if batch.empty() { spares.giveBack(batch) }
        }
    }

    private func read(_ bundle: BundleReader, _ consume: (Batch) async throws -> Void) async throws {
        let segments = bundle.manifest.segments(in: options.segments)
        let units = segments.map { SegmentUnit(input: number, bundle: bundle, segment: $0) }
        try await inParallel(units) { [options] unit in
            try unit.read(options)
        } consume: {
            try await consume($0)
        }
        guard segments.endIndex == bundle.manifest.segments.endIndex else { return }
        var details = try BundleDetails(of: bundle, input: number)
        while let batch = try details.next() { try await consume(batch) }
    }

    private func inParallel<Unit: Sendable, Result: Sendable>(
        _ units: some Sequence<Unit>, _ work: @escaping @Sendable (Unit) throws -> Result,
        consume: (Result) async throws -> Void
    ) async throws {
        var tasks = OrderedTasks<Result>(limit: limit)
        var waiting = units.makeIterator()
        while true {
            while !tasks.isFull, let unit = waiting.next() { tasks.add { try work(unit) } }
            guard let result = try await tasks.next() else { return }
            try await consume(result)
        }
    }
}
