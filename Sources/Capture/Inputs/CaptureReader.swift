import Bundle
import Bytes
import Files
import Telemetry

/// A reader that processes inputs in parallel and delivers their records in order.
///
/// Records are ordered by input, then by the path of their store, then by their position in the store. A bundle is read
/// after the bundles that it continues, because the notes about repeated IDs depend on the order. Records whose holds
/// depend on their surroundings come last, because better copies of them may follow. Pseudonymized records are ordered by
/// their pseudonyms instead.
public struct CaptureReader: Sendable {
    /// The inputs to be read.
    public let inputs: [CaptureInput]
    /// The options for reading stores.
    public internal(set) var options: ScanOptions
    /// The limit on the number of jobs.
    public var limit: JobLimit { options.limit }
    /// The paths of the inputs, for error messages.
    public let paths: [String]
    private let segments: Range<Int>?
    /// The ranges of the files to be read, by the indices of their stores, or `nil` if all stores of a capture are read.
    private var surveyedFiles: [Int: Range<Int>]?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - inputs: The inputs.
    ///   - paths: The paths of the inputs, for error messages.
    ///   - options: The options for reading stores.
    ///   - segments: The range of the bundle segments to be read, or `nil` for all of them. The quarantine and the
    ///     problems are read with the last segment of the bundle.
    ///   - limit: The limit on the number of jobs.
    public init(
        _ inputs: [CaptureInput], paths: [String], options: ScanOptions, segments: Range<Int>? = nil, limit: JobLimit
    ) {
        self.inputs = inputs
        self.paths = paths
        self.segments = segments
        self.options = options
        self.options.limit = limit
    }

    /// The total number of bytes of the inputs, or `nil` if it is unknown in advance.
    public var byteCount: Int? {
        inputs.reduce(0) { total, input in
            guard let total, let count = input.byteCount(ofSegments: segments) else { return nil }
            return total.addingSaturated(count)
        }
    }

    /// Reads all inputs.
    ///
    /// - Parameters:
    ///   - intake: Collects the findings.
    ///   - keep: Called with each kept record, its line, and the payload part of the line.
    ///   - note: Called with each other finding.
    ///   - progress: Called with the number of bytes that were read, and the number of records in them.
    ///   - afterOutput: Called after each batch of findings.
    /// - Throws: ``InputError`` for a damaged bundle or for records with pseudonyms of another key, `FileError` with
    ///   operation `spool` if there is no space for temporary files, and the errors of `keep` and `afterOutput`.
    public func read(
        into intake: inout Intake,
        keep: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void,
        note: (Intake.Finding) -> Void = { _ in }, progress: (_ bytes: Int, _ records: Int) -> Void = { _, _ in },
        afterOutput: () async throws -> Void = {}
    ) async throws {
        guard let pseudonymizer = options.pseudonymizer else {
            return try await readInOrder(
                into: &intake, keep: keep, note: note, progress: progress, afterOutput: afterOutput)
        }
        let sorter = try RecordSorter(knowing: pseudonymizer.systems, limit: limit)
        try await readInOrder(
            into: &intake, keep: { entry, line, _ in try sorter.add(entry, line: line) }, note: note,
            progress: progress, afterOutput: afterOutput)
        try await sorter.passRecords(to: keep, afterBatch: afterOutput)
    }

    /// Reads all inputs, and passes their records on in the order of the captures.
    private func readInOrder(
        into intake: inout Intake,
        keep: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void,
        note: (Intake.Finding) -> Void, progress: (_ bytes: Int, _ records: Int) -> Void,
        afterOutput: () async throws -> Void
    ) async throws {
        let order = BundleChain.readingOrder(of: inputs.map(\.manifest))
        var chain = BundleChain()
        for (input, path) in zip(inputs, paths) { input.manifest.map { chain.append($0, named: path) } }
        intake.noteMissingParents(chain.missingParents)
        intake.onlyInput = inputs.count == 1 ? inputs.first : nil
        intake.reserveCapacity(inputs.reduce(0) { $0.addingSaturated($1.approximateRecordCount) })
        for number in order {
            guard let survey = survey(of: number) else { continue }
            try await survey.readNamingInput(number) { output in intake.survey(output) }
        }
        intake.finishSurvey()
        for number in order {
            let isBundle = inputs[number].isBundle
            try await readNamingInput(number) { output in
                try intake.add(output, fromBundle: isBundle, keep: keep, note: note)
                try await afterOutput()
                progress(output.bytesRead, output.entries.count)
            }
        }
        while try intake.passDeferred(atMost: Self.deferredBatchSize, keep: keep) { try await afterOutput() }
        try await afterOutput()
    }

    /// The number of deferred records that are passed on between two calls of `afterOutput`.
    private static let deferredBatchSize = 1024

    /// Returns a reader of those parts of the input at index `number` that may contain copies to be kept instead of
    /// other copies, or `nil` if there are no such parts or nothing else is read.
    private func survey(of number: Int) -> CaptureReader? {
        var survey = self
        // An excluded copy decides, too.
        survey.options.filter.uploadableOnly = false
        survey.options.reportsQueues = false
        survey.options.quarantine = nil
        switch inputs[number] {
        case .folder(let capture):
            let files = surveyedFiles(of: capture)
            guard !files.isEmpty else { return nil }
            survey.surveyedFiles = files
        case .bundle(let bundle):
            let holds = bundle.manifest.totals.holds
            guard inputs.count > 1, CopyRank.decisiveCodes.contains(where: { holds[$0] != nil }) else { return nil }
        case .salvage, .log: guard inputs.count > 1 else { return nil }
        }
        return survey
    }

    /// Returns the files of `capture` that may contain copies to be kept instead of other copies, by the indices of their
    /// stores.
    private func surveyedFiles(of capture: CapturedFolder) -> [Int: Range<Int>] {
        var files: [Int: Range<Int>] = [:]
        let pendingStores = capture.stores.indices.filter { !capture.stores[$0].store.pendingEventFiles.isEmpty }
        if pendingStores.count > 1 {
            for index in pendingStores { files[index] = capture.stores[index].store.pendingEventFiles }
        }
        if inputs.count > 1 || capture.stores.count > 1 {
            for index in capture.stores.indices where capture.mayDecide(index) {
                files[index] = 0..<capture.stores[index].store.fileCount
            }
        }
        return files
    }

    /// Reads the input at index `number`, and adds its path to errors.
    private func readNamingInput(_ number: Int, _ consume: (ScanOutput) async throws -> Void) async throws {
        do {
            try await read(number) { output in
                try await consume(output)
                try inputs[number].checkResources()
            }
        } catch let error as BundleError {
            throw InputError.bundle(error, paths[number])
        } catch let error as PseudonymError {
            throw InputError.pseudonyms(error, paths[number])
        }
        try inputs[number].checkResources()
    }

    /// Reads the input at index `number`, and calls `consume` with its findings, in order.
    func read(_ number: Int, _ consume: (ScanOutput) async throws -> Void) async throws {
        switch inputs[number] {
        case .folder(let capture): try await read(capture, number, consume)
        case .bundle(let bundle): try await read(bundle, number, consume)
        case .salvage(let bundle):
            let scan = try SalvageScan(bundle)
            try await read(number, labeled: bundle.label, { try scan.read(into: &$0) }, consume)
        case .log(let log): try await log.read(input: number, options, limit: limit, consume)
        }
    }

    private func read(
        _ capture: CapturedFolder, _ number: Int, _ consume: (ScanOutput) async throws -> Void
    ) async throws {
        let makeOutput = { @Sendable [options] in
            ScanOutput(capture: capture.label, input: number, writingWith: options)
        }
        var output = makeOutput()
        for problem in capture.problems { output.report(problem) }
        try await consume(output)
        let spares = ValuePool<ScanOutput, Never>(keeping: limit.jobs + 1, makeOutput)
        try await processInParallel(ScanUnit.split(capture, only: surveyedFiles)) { [options] unit in
            var output = spares.take()
            let rest = try unit.read(options, into: &output)
            return (output, rest: rest)
        } consume: { result in
            var (output, rest) = result
            try await consume(output)
            // Few units fill an output. The rest of such a unit is read here.
            while let unit = rest {
                output = makeOutput()
                rest = try unit.read(options, into: &output)
                try await consume(output)
            }
            guard output.isWorthReusing else { return }
            output.removeAll()
            spares.recycle(output)
        }
    }

    private func read(
        _ bundle: BundleReader, _ number: Int, _ consume: (ScanOutput) async throws -> Void
    ) async throws {
        let segments = bundle.manifest.segments(in: segments)
        try await processInParallel(segments, size: { $0.bytes }) { [options] segment in
            try bundle.read(segment, input: number, options)
        } consume: {
            try await consume($0)
        }
        guard segments.endIndex == bundle.manifest.segments.endIndex else { return }
        if options.rereadsQuarantine {
            var reader = try QuarantineReader(bundle, input: number, options)
            try await reader.read(consume)
        }
        var quarantine = DetailCursor<QuarantineEntry>(BundleLayout.quarantine, of: bundle)
        var problems = DetailCursor<LocatedProblem>(BundleLayout.problems, of: bundle)
        var withdrawals = DetailCursor<Withdrawal>(BundleLayout.withdrawals, of: bundle)
        func readDetail(into output: inout ScanOutput) throws -> Bool {
            if !options.rereadsQuarantine, let item = try quarantine.next() {
                output.quarantine(item)
            } else if let problem = try problems.next() {
                output.report(problem)
            } else if let withdrawal = try withdrawals.next() {
                output.report(withdrawal)
            } else {
                return false
            }
            return true
        }
        try await read(number, labeled: bundle.path, readDetail, consume)
    }

    /// Calls `step` until it returns `false`, and `consume` with the outputs that it fills.
    private func read(
        _ number: Int, labeled label: String, _ step: (inout ScanOutput) throws -> Bool,
        _ consume: (ScanOutput) async throws -> Void
    ) async throws {
        var hasMore = true
        while hasMore {
            var output = ScanOutput(capture: label, input: number, writingWith: options)
            hasMore = try output.fill(step)
            try await consume(output)
        }
    }

    /// Calls `work` with each unit on several cores, and `consume` with the results in order.
    ///
    /// `size` returns the size of a unit in bytes. Units that are larger than usual are not read at the same time.
    private func processInParallel<Unit: Sendable, Result: Sendable>(
        _ units: some Sequence<Unit>, size: (Unit) -> Int = { _ in 0 },
        _ work: @escaping @Sendable (Unit) throws -> Result, consume: (Result) async throws -> Void
    ) async throws {
        var tasks = OrderedTasks<(Result, Int)>(limit: limit)
        var unstartedUnits = units.makeIterator()
        var nextUnit = unstartedUnits.next()
        let byteLimit = (2 * limit.jobs + 1) * BundleLayout.maxSegmentSize
        var unfinishedByteCount = 0
        while true {
            while !tasks.isFull, let unit = nextUnit,
                tasks.count == 0 || unfinishedByteCount + size(unit) <= byteLimit
            {
                let byteCount = size(unit)
                unfinishedByteCount += byteCount
                tasks.add { (try work(unit), byteCount) }
                nextUnit = unstartedUnits.next()
            }
            guard let (result, byteCount) = try await tasks.next() else { return }
            unfinishedByteCount -= byteCount
            try await consume(result)
        }
    }
}
