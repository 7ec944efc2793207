import Bundle
import Capture
import Console
import Files
import Parallel
import Systems
import Telemetry

/// Has the inputs of a command read into the intake, with progress on the terminal.
struct Reading {
    let inputs: [CaptureInput]
    private let paths: [String]
    let filter: RecordFilter
    private let common: CommonOptions
    private let quarantineFileLimit: Int
    private let reportsQueues: Bool
    private let keepsDetails: Bool
    private let pseudonymizer: RecordPseudonymizer?
    private let segments: Range<Int>?
    let limit: JobLimit

    /// - Parameters:
    ///   - keepsDetails: whether all of what was not understood is wanted, not the first few only.
    ///   - pseudonymizer: makes pseudonyms; nil where records are wanted as they are.
    ///   - segments: which segments of a bundle are read, counted from 0; nil for all.
    init(
        _ inputs: [CaptureInput], paths: [String], filter: RecordFilter, common: CommonOptions, limit: JobLimit,
        quarantineFileLimit: Int = 64 << 20, reportsQueues: Bool = false, keepsDetails: Bool = false,
        pseudonymizer: RecordPseudonymizer? = nil, segments: Range<Int>? = nil
    ) {
        self.segments = segments
        self.pseudonymizer = pseudonymizer
        self.keepsDetails = keepsDetails
        self.inputs = inputs
        self.paths = paths
        self.filter = filter
        self.common = common
        self.quarantineFileLimit = quarantineFileLimit
        self.reportsQueues = reportsQueues
        self.limit = limit
    }

    /// Reads everything.
    /// - Parameters:
    ///   - keep: takes each record that is kept, its line, and the part of the line that is its payload.
    ///   - note: takes what else is found.
    ///   - afterBatch: is called when some records were kept, to wait for what became of them.
    func run(
        keep: (borrowing Batch.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void,
        note: (Intake.Finding) -> Void = { _ in }, afterBatch: () async throws -> Void = {}
    ) async throws -> Intake {
        var generator = SystemRandomNumberGenerator()
        let secret = RunSecret(using: &generator)
        let options = HarvestOptions(
            filter: filter,
            scan: ScanOptions(
                secret: secret, quarantineFileLimit: quarantineFileLimit, copyFolder: CommonOptions.temporaryFolder,
                reportsQueues: reportsQueues), pseudonymizer: pseudonymizer, segments: segments)
        let counts = inputs.map { $0.byteCount(ofSegments: segments) }
        let total = counts.contains(nil) ? nil : counts.compactMap(\.self).reduce(0, +)
        let progress = ProgressLine("reading", total: total, isQuiet: common.quiet)
        defer { progress.clear() }
        var intake = Intake(
            secret: secret, keepsDetails: keepsDetails, folder: CommonOptions.temporaryFolder, systems: Systems.table,
            hidesInput: pseudonymizer != nil)
        for (number, input) in inputs.enumerated() {
            do {
                let harvest = Harvest(input, number: number, options: options, limit: limit)
                try await harvest.run(into: &intake, keep: keep, note: note) { bytes, records in
                    try ResourceExhaustion.check()
                    try await afterBatch()
                    progress.add(bytes: bytes, records: records)
                }
            } catch let error as BundleError {
                throw CommandError(error, in: paths[number])
            } catch let error as PseudonymError {
                throw CommandError(error, in: paths[number])
            }
            try ResourceExhaustion.check()
        }
        return intake
    }
}
