import Bundle
import Files
import JSONText
import Telemetry

/// Takes records as they are read: leaves duplicates out, notes ids that come again with another payload, keeps the
/// quarantine and the problems.
///
/// ```swift
/// var generator = SystemRandomNumberGenerator()
/// let options = ScanOptions(secret: RunSecret(using: &generator))
/// var intake = Intake(options, keepsDetails: false, systems: Systems.table)
/// let reader = CaptureReader(inputs, paths: paths, options: options, limit: JobLimit(jobs: 2))
/// try await reader.read(into: &intake) { _, line, _ in lines += line }
/// ```
public struct Intake: Sendable {
    /// How many records were left out because an equal one came before.
    public private(set) var duplicates = 0
    /// What could not be understood.
    public private(set) var quarantined: FirstFew<Quarantined>
    /// What is worth telling.
    public private(set) var problems: FirstFew<PlacedProblem>
    /// The first of the problems that mean a loss.
    public private(set) var losses: FirstFew<PlacedProblem>
    /// The first of the problems that lose nothing, but that the operator should look at.
    public private(set) var warnings: FirstFew<PlacedProblem>
    /// What of the payloads of the records that were kept was left out to make pseudonyms.
    public private(set) var leftOut = PseudonymCounts()
    /// All rejects and problems, where a bundle is to carry them.
    public private(set) var spill: Spill
    private let keepsDetails: Bool
    /// Whether what tells of the input is counted by its code alone, for records get pseudonyms.
    private let hidesInput: Bool
    /// What was read, whether it was kept or not.
    public private(set) var totals = BundleTotals()
    /// Whether something was not read, or could not be understood.
    public private(set) var isIncomplete = false
    /// What the filter met, also in records that it left out.
    public private(set) var filtered = FilterFindings()
    /// The reports of stores about themselves.
    public private(set) var reports: [ScanOutput.ReportEntry] = []
    private var index = DuplicateIndex()
    /// The lines of what is quarantined and of the problems: bundles that are packed together may tell the same.
    private var details = DuplicateIndex()
    private let secret: RunSecret
    private let systems: SystemTable

    /// All rejects and problems, held on disk until a bundle is written.
    public struct Spill: Sendable {
        /// What could not be understood.
        public var quarantine: QuarantineSpill
        /// What is worth telling.
        public var problems: DetailSpill
    }

    /// A reject or a problem that was not reported before, or what a scan wants to know besides.
    public enum Finding: Sendable {
        /// A span or a file that was put into quarantine, and the index of the input.
        case quarantined(Quarantined, input: Int)
        /// A problem.
        case problem(PlacedProblem)
        /// The app that the records of a part of a store name, and the index of the input.
        case app(ScanOutput.AppEntry, input: Int)
    }

    /// Creates an intake.
    ///
    /// If records get pseudonyms, rejects and problems are only counted by their codes, because they contain names and parts of
    /// the input.
    /// - Parameters:
    ///   - options: The options that the inputs are read with.
    ///   - keepsDetails: Whether all rejects and problems are kept, in files without names. Otherwise only the first ones are.
    ///   - systems: The systems whose records and stores the inputs may contain.
    public init(_ options: ScanOptions, keepsDetails: Bool, systems: SystemTable) {
        secret = options.secret
        hidesInput = options.pseudonymizer != nil
        self.keepsDetails = keepsDetails && !hidesInput
        let most = hidesInput ? 0 : FirstFew<PlacedProblem>.shown
        quarantined = FirstFew(limit: most)
        problems = FirstFew(limit: most)
        losses = FirstFew(limit: most)
        warnings = FirstFew(limit: most)
        self.systems = systems
        spill = Spill(
            quarantine: QuarantineSpill(folder: options.copyFolder, knowing: systems),
            problems: DetailSpill(folder: options.copyFolder))
    }

    /// The note that the id of a record stands on an earlier one too, with another payload.
    private static func repeatedID(_ code: String) -> String {
        "\(code) id also used by an earlier record with different content"
    }

    /// Takes the records, rejects and problems of an output.
    /// - Parameters:
    ///   - keep: takes each record that is kept, its line, and the part of the line that is its payload.
    ///   - note: takes what else is found.
    public mutating func take(
        _ output: ScanOutput, fromBundle isBundle: Bool,
        keep: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void,
        note: (Finding) -> Void = { _ in }
    ) throws {
        if let refusal = output.refusal { throw refusal }
        let entries = output.entries.span
        for index in entries.indices { try insert(entries[index], of: output.lines, keep) }
        for item in output.quarantined {
            let line = item.json.bytes
            guard isNew(line) else { continue }
            quarantined.add(item, reason: shown(item.reject.reason))
            if keepsDetails { try spill.quarantine.append(item, line: line, input: output.input) }
            note(.quarantined(item, input: output.input))
        }
        for problem in output.problems {
            let line = problem.json.bytes
            guard isNew(line) else { continue }
            try add(problem, line: line)
            note(.problem(problem))
        }
        for entry in output.apps { note(.app(entry, input: output.input)) }
        filtered.add(output.filtered)
        reports += output.reports
        // What a bundle carries along was reported when the bundle was made.
        if isBundle { return }
        if !output.quarantined.isEmpty || output.problems.contains(where: \.problem.isLoss) {
            isIncomplete = true
        }
    }

    private mutating func insert(
        _ entry: borrowing ScanOutput.Entry, of lines: borrowing TextBuffer,
        _ keep: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void
    ) throws {
        switch index.insert(entry.key) {
        case .duplicate:
            duplicates += 1
            return
        case .new:
            try keep(entry, lines[entry.line], lines[entry.written.payload])
        case .sameIDOtherPayload:
            let line = lines[entry.line]
            let code = systems[entry.summary.system]?.repeatedIDCode ?? ""
            if entry.written.isNoted(code, in: line) {
                try keep(entry, line, lines[entry.written.payload])
            } else {
                let note = hidesInput ? code : Self.repeatedID(code)
                let (noted, payload) = entry.written.line(line, noting: note)
                try keep(entry, noted[...], noted[payload])
            }
        }
        totals.count(entry.summary)
        leftOut += entry.leftOut
    }

    /// Notes that something for the quarantine is not carried along.
    /// - Throws: `FileError` with operation `spool`.
    public mutating func lose(_ item: Quarantined, _ loss: QuarantineLoss) throws(FileError) {
        let problem = PlacedProblem(capture: item.capture, path: item.path, problem: Problem(loss, item))
        try add(problem, line: problem.json.bytes)
        isIncomplete = true
    }

    /// Takes a problem with an input as a whole, found when it had been read.
    /// - Throws: `FileError` with operation `spool`.
    public mutating func tell(_ problem: PlacedProblem) throws(FileError) {
        try add(problem, line: problem.json.bytes)
        if problem.problem.isLoss { isIncomplete = true }
    }

    /// The text that a code is taken from: of a bundle that anybody may have made, a code could be anything.
    private func shown(_ text: String) -> String { hidesInput ? PseudonymNotes.code(of: text) ?? "other" : text }

    private mutating func isNew(_ line: [UInt8]) -> Bool {
        switch details.insert(RecordKey(text: line, secret: secret)) {
        case .new, .sameIDOtherPayload: true
        case .duplicate: false
        }
    }

    private mutating func add(_ problem: PlacedProblem, line: [UInt8]) throws(FileError) {
        let code = shown(problem.problem.code)
        problems.add(problem, reason: code)
        if problem.problem.isLoss { losses.add(problem, reason: code) }
        if problem.problem.isWarning { warnings.add(problem, reason: code) }
        if keepsDetails { try spill.problems.append(line) }
    }
}

extension Problem {
    /// Why the bytes of an entry of the quarantine are not in the bundle.
    fileprivate init(_ loss: QuarantineLoss, _ item: Quarantined) {
        switch loss {
        case .tooLarge: self.init("quarantine-limit", "\(item.size) bytes exceed the limit of the quarantine")
        case .tooMany(let limit):
            self.init("quarantine-limit", "\(limit) others are in the quarantine, which holds no more; listed only")
        case .changed: self.init("changed", "changed while it was read; take the capture again")
        case .unreadable(let reason): self.init("unreadable", reason)
        }
    }
}
