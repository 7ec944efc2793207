import Bundle
import Bytes
import Files
import Hashing
import JSONText
import Telemetry

/// A collector of records, rejected items and problems that removes duplicates.
///
/// A record receives a note if an earlier record has the same ID and a different payload. If earlier bundles are given,
/// their contents are omitted.
///
/// ```swift
/// let options = ScanOptions()
/// var intake = Intake(options, keepsDetails: false, systems: Systems.table)
/// let reader = CaptureReader(inputs, paths: paths, options: options, limit: JobLimit(jobs: 2))
/// try await reader.read(into: &intake) { _, line, _ in lines += line }
/// ```
public struct Intake: Sendable {
    /// The number of records that were dropped because a copy of them was kept.
    public private(set) var duplicateCount = 0
    /// The parents of input bundles that are not among the inputs.
    public private(set) var missingParents: [BundleChain.Fault] = []
    /// The number of records that are held because of a copy with other holds, by the copy that was kept.
    public private(set) var decisionCounts: [CopyDecision: Int] = [:]
    /// The counts of records, quarantined items and problems that were omitted because an earlier bundle contains them.
    public private(set) var omitted = Manifest.OmittedCounts()
    /// The keys of the kept records, quarantined items and problems.
    ///
    /// The keys are collected only if an index is made.
    public private(set) var indexKeys = IndexKeys()
    /// The items in quarantine.
    public private(set) var quarantinedItems: CappedList<QuarantineEntry>
    /// The problems with the inputs.
    public private(set) var problems: CappedList<LocatedProblem>
    /// The problems that mean a loss of data.
    public private(set) var losses: CappedList<LocatedProblem>
    /// The problems that do not mean a loss of data, but that the operator should check.
    public private(set) var warnings: CappedList<LocatedProblem>
    /// The number of payload parts that were removed to pseudonymize the records.
    public private(set) var removedPartCounts = PseudonymCounts()
    /// All rejected items and problems, which are collected only if a bundle will contain them.
    public private(set) var spill: Spill
    private let keepsDetails: Bool
    /// Whether only the codes of rejected items and problems are kept, because records are pseudonymized.
    private let hidesInput: Bool
    /// The totals of all kept records.
    public private(set) var totals = BundleTotals()
    /// Whether any input was quarantined, or any data was lost.
    ///
    /// Findings stored in intact bundles that are read as input are ignored, because they were reported when the bundle
    /// was created. Quarantined items that an earlier bundle contains are ignored, too.
    public private(set) var isIncomplete = false
    /// The withdrawals in the inputs, which are empty if records are pseudonymized.
    public private(set) var withdrawals: Set<Withdrawal> = []
    /// The findings of the record filter, including findings about removed records.
    public private(set) var filterFindings = FilterFindings()
    /// The reports on the state of stores such as upload queues.
    public private(set) var reports: [ScanOutput.ReportEntry] = []
    /// The number of items that left the quarantine and of records that were found in it.
    public private(set) var rereadCounts = RereadCounts()
    /// The indices of the bundles with such items or records.
    var rereadInputs: Set<Int> = []
    private var recordIndex = DuplicateIndex()
    /// The dropped records, or `nil` if they are not listed.
    private var droppedCopies: DetailSpill?
    /// The records of which a held copy is kept instead of a copy that is not held.
    private var decidedRecords: Set<RecordKey> = []
    /// The records of ``decidedRecords`` of which a copy that is not held was dropped.
    private var overruledRecords: Set<RecordKey> = []
    private var pendingEventCopies = PendingEventCopies()
    /// The single input that is read, or `nil` if there are several.
    ///
    /// The records of a single bundle are all different, so that none is deferred. In a single request log, all copies
    /// of a delivered record are held as delivered, so that delivered records keep their order.
    var onlyInput: CaptureInput?
    private var deferred: DeferredCopies
    /// The label of each input.
    private var captureNames: [Int: String] = [:]
    /// The number of deferred copies that were passed on.
    private var passedCount = 0
    /// The hashes of the lines of rejected items and problems, because combined bundles may contain equal lines.
    private var knownDetails: Set<Digest16> = []
    private let systems: SystemTable
    private let quarantineSpool: QuarantineSpool?
    /// The earlier bundles whose contents are omitted.
    private let earlier: EarlierBundles
    private let collectsIndexKeys: Bool

    /// The keys of the kept records, quarantined items and problems.
    public struct IndexKeys: Sendable {
        /// The `CopyRank.indexNumber` of each kept record.
        public fileprivate(set) var records: [RecordKey: UInt64] = [:]
        /// The hashes of the quarantine entries and problems, as the bundle contains them.
        public fileprivate(set) var details: Set<Digest16> = []
    }

    /// All rejected items and problems, stored on disk until a bundle is written.
    public struct Spill: Sendable {
        /// The items in quarantine.
        public var quarantine: QuarantineSpill
        /// The problems with the inputs.
        public var problems: DetailSpill
    }

    /// A new rejected item, a new problem, or another finding of a scan.
    public enum Finding: Sendable {
        /// A quarantined span or file, and the index of its input.
        case quarantined(QuarantineEntry, input: Int)
        /// A problem with an input.
        case problem(LocatedProblem)
        /// The app that is named in the records of a store, and the index of the input.
        case app(ScanOutput.AppEntry, input: Int)
    }

    /// Creates an intake.
    ///
    /// If records are pseudonymized, rejected items and problems are only counted by their codes, because they contain
    /// names and parts of the input.
    ///
    /// - Parameters:
    ///   - options: The options for reading the inputs.
    ///   - keepsDetails: Whether all rejected items and problems are kept, in unnamed files, in addition to the first
    ///     items and problems in memory.
    ///   - limits: The limits on the quarantined bytes that are kept.
    ///   - systems: The systems whose records and stores are recognized.
    ///   - earlier: The earlier bundles whose contents are omitted.
    ///   - collectsIndexKeys: Whether ``indexKeys`` are collected.
    public init(
        _ options: ScanOptions, keepsDetails: Bool, within limits: QuarantineLimits = QuarantineLimits(),
        systems: SystemTable, earlier: EarlierBundles = EarlierBundles(), collectsIndexKeys: Bool = false
    ) {
        self.earlier = earlier
        self.collectsIndexKeys = collectsIndexKeys
        hidesInput = options.pseudonymizer != nil
        self.keepsDetails = keepsDetails && !hidesInput
        let elementLimit = hidesInput ? 0 : CappedList<LocatedProblem>.defaultLimit
        quarantinedItems = CappedList(limit: elementLimit)
        problems = CappedList(limit: elementLimit)
        losses = CappedList(limit: elementLimit)
        warnings = CappedList(limit: elementLimit)
        self.systems = systems
        quarantineSpool = options.quarantine
        deferred = DeferredCopies(folder: options.copyFolder)
        droppedCopies = options.listsDroppedCopies ? DetailSpill(folder: options.copyFolder) : nil
        spill = Spill(
            quarantine: QuarantineSpill(folder: options.copyFolder, knowing: systems, within: limits),
            problems: DetailSpill(folder: options.copyFolder))
    }

    /// Makes space for `count` records.
    mutating func reserveCapacity(_ count: Int) { recordIndex.reserveCapacity(count) }

    /// Adds the records, rejected items and problems of an output.
    ///
    /// - Parameters:
    ///   - output: The output of a scan.
    ///   - isBundle: Whether the output is from an intact bundle.
    ///   - keep: Called with each kept record, its line, and the payload part of the line.
    ///   - note: Called with each other finding.
    /// - Throws: `FileError` with operation `spool`, and the errors of `keep`.
    public mutating func add(
        _ output: ScanOutput, fromBundle isBundle: Bool,
        keep: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void,
        note: (Finding) -> Void = { _ in }
    ) throws {
        let (list, lines) = (output.entries, output.lines)
        let entries = list.span
        captureNames[output.input] = output.capture
        let counts = (records: totals.records, duplicates: duplicateCount)
        for index in entries.indices { try choose(entries[index], of: lines, keep) }
        duplicateCount += output.duplicates
        if output.isReread {
            // The other records of a quarantined file are in the bundle already.
            duplicateCount = counts.duplicates
            let found = RereadCounts(items: output.rereadItemCount, records: totals.records - counts.records)
            if !found.isEmpty { rereadInputs.insert(output.input) }
            rereadCounts += found
        }
        for copy in output.droppedCopies { try droppedCopies?.append(copy.bytes) }
        for item in output.quarantined {
            let line = item.json.bytes
            let digest = Digest16(of: line.span)
            let isOmitted = earlier.details.contains(digest)
            // The contents of a bundle were reported when the bundle was created.
            if !isBundle, !isOmitted { isIncomplete = true }
            guard knownDetails.insert(digest).inserted else { continue }
            guard !isOmitted else {
                omitted.quarantine += 1
                continue
            }
            quarantinedItems.add(item, reason: visibleText(item.reject.reason))
            if keepsDetails {
                try spill.quarantine.append(item, line: line, input: output.input)
                quarantineSpool?.noteRemainingSize(spill.quarantine.remainingSize)
            }
            collectIndexKey(digest)
            note(.quarantined(item, input: output.input))
        }
        for problem in output.problems {
            let line = problem.json.bytes
            let digest = Digest16(of: line.span)
            if !isBundle, problem.problem.isLoss { isIncomplete = true }
            guard knownDetails.insert(digest).inserted else { continue }
            if try add(problem, line: line, digest) { note(.problem(problem)) }
        }
        for entry in output.apps { note(.app(entry, input: output.input)) }
        if !hidesInput { withdrawals.formUnion(output.withdrawals) }
        filterFindings.add(output.filtered)
        reports += output.reports
    }

    /// Notes the records of an output that may be kept instead of other copies.
    ///
    /// Call this method, and then ``finishSurvey()``, before any output is added.
    mutating func survey(_ output: ScanOutput) {
        for entry in output.entries {
            if entry.rank.isDecisive { decidedRecords.insert(entry.key) }
            pendingEventCopies.add(entry)
        }
    }

    /// Decides which copies of pending events are kept.
    mutating func finishSurvey() { pendingEventCopies.decide() }

    /// Passes on a record, unless another copy is kept or may be kept instead.
    private mutating func choose(
        _ entry: borrowing ScanOutput.Entry, of lines: borrowing TextBuffer,
        _ keep: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void
    ) throws {
        if let kept = pendingEventCopies.keyOfKeptCopy(of: entry) {
            duplicateCount += 1
            try list(dropped: entry, lines[entry.line], for: kept)
        } else if !decidedRecords.isEmpty, !entry.rank.isDecisive, decidedRecords.contains(entry.key) {
            overruledRecords.insert(entry.key)
            duplicateCount += 1
            try list(dropped: entry, lines[entry.line])
        } else if entry.dependsOnSurroundings, canHaveBetterCopy(entry.rank) {
            switch try deferred.add(entry, line: lines[entry.line]) {
            case .first: break
            case .replacement: duplicateCount += 1
            case .dropped:
                duplicateCount += 1
                try list(dropped: entry, lines[entry.line])
            }
        } else {
            try insert(entry, lines[entry.line], payload: lines[entry.written.payload], keep)
        }
    }

    /// Adds a record to the list of dropped records, if there is one.
    ///
    /// `kept` is the key of the record that is kept instead, if it differs from that of the dropped record.
    private mutating func list(
        dropped entry: borrowing ScanOutput.Entry, _ line: ArraySlice<UInt8>, for kept: RecordKey? = nil
    ) throws(FileError) {
        guard droppedCopies != nil else { return }
        let key = kept ?? entry.key
        let copy = DroppedCopy(
            key: key, isPayloadEqual: key.content == entry.key.content, line: line, payload: entry.written.payload)
        try droppedCopies?.append(copy.bytes)
    }

    /// Calls `body` with each dropped record, and with the number, from 1, of the record that was kept instead of it.
    ///
    /// The number is `nil` if a filter excludes the kept record. Call this method after all inputs were read.
    ///
    /// - Throws: `FileError` if the list cannot be read, and the errors of `body`.
    public func forEachDroppedCopy(_ body: (DroppedCopy, _ keptNumber: Int?) throws -> Void) throws {
        try droppedCopies?.forEach { bytes, _ in
            guard let copy = DroppedCopy(bytes) else { return }
            try body(copy, recordIndex.number(of: copy.key))
        }
    }

    private func canHaveBetterCopy(_ rank: CopyRank) -> Bool {
        switch onlyInput {
        case .bundle: false
        case .log: !rank.isDelivered
        case .folder, .salvage, nil: true
        }
    }

    /// Passes on at most `limit` of the records whose better copies could have followed, and returns whether there are
    /// more.
    ///
    /// Call this method after all outputs have been added.
    mutating func passDeferred(
        atMost limit: Int, keep: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void
    ) throws -> Bool {
        let end = min(passedCount + limit, deferred.count)
        // The copies are moved out, because they cannot be read while another property of the intake is modified.
        var copies = exchange(&deferred, with: DeferredCopies(folder: ""))
        defer { deferred = copies }
        while passedCount < end {
            try copies.withCopy(
                at: passedCount, knowing: systems, includesSuperseded: droppedCopies != nil
            ) { entry, line, fate in
                guard case .kept(let isDecision) = fate else { return try list(dropped: entry, line) }
                if isDecision || overruledRecords.contains(entry.key) {
                    let decision = CopyDecision(rank: entry.rank, capture: captureNames[entry.input] ?? "")
                    decisionCounts[decision, default: 0] += 1
                }
                try insert(entry, line, payload: line[entry.written.payload], keep)
            }
            passedCount += 1
        }
        return passedCount < copies.count
    }

    private mutating func insert(
        _ entry: borrowing ScanOutput.Entry, _ line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>,
        _ keep: (borrowing ScanOutput.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void
    ) throws {
        let earlierFinding = earlier.finding(for: entry.key, rank: entry.rank)
        if earlierFinding == .duplicate {
            omitted.records += 1
            return
        }
        let finding = recordIndex.insert(entry.key, number: totals.records + 1)
        switch finding == .new ? earlierFinding : finding {
        case .duplicate:
            duplicateCount += 1
            return try list(dropped: entry, line)
        case .new:
            try keep(entry, line, payload)
        case .sameIDOtherPayload:
            let code = systems[entry.summary.system]?.repeatedIDCode ?? ""
            if entry.written.hasNote(withCode: code, in: line) {
                try keep(entry, line, payload)
            } else {
                let isHidden = hidesInput || entry.summary.pseudonymKeyID != nil
                let note = isHidden ? code : "\(code) id also used by an earlier record with different content"
                let (noted, payload) = entry.written.line(line, noting: note)
                try keep(entry, noted[...], noted[payload])
            }
        }
        totals.count(entry.summary)
        removedPartCounts += entry.leftOut
        if collectsIndexKeys { indexKeys.records[entry.key] = entry.rank.indexNumber }
    }

    /// Notes that the parents in `faults` are not among the inputs.
    mutating func noteMissingParents(_ faults: [BundleChain.Fault]) { missingParents = faults }

    /// Reports that the bundle does not contain the bytes of a quarantined item.
    ///
    /// - Throws: `FileError` with operation `spool`.
    public mutating func addLoss(of item: QuarantineEntry, _ problem: Problem) throws(FileError) {
        try add(LocatedProblem(capture: item.capture, path: item.path, problem: problem))
        isIncomplete = true
        // The bundle lists the entry as not stored. Its index key differs, so that a later increment tries to store the
        // bytes.
        var listed = item
        listed.isStored = true
        indexKeys.details.remove(Digest16(of: listed.json.bytes.span))
        listed.isStored = false
        collectIndexKey(Digest16(of: listed.json.bytes.span))
    }

    /// Adds a problem that was found after its input was read.
    ///
    /// - Throws: `FileError` with operation `spool`.
    public mutating func report(_ problem: LocatedProblem) throws(FileError) {
        try add(problem)
        if problem.problem.isLoss { isIncomplete = true }
    }

    /// Returns `text`, or only its code if the input is hidden.
    ///
    /// An unknown code is replaced by `other`.
    private func visibleText(_ text: String) -> String { hidesInput ? PseudonymNotes.code(of: text) ?? "other" : text }

    private mutating func collectIndexKey(_ digest: Digest16) {
        if collectsIndexKeys, keepsDetails { indexKeys.details.insert(digest) }
    }

    private mutating func add(_ problem: LocatedProblem) throws(FileError) {
        let line = problem.json.bytes
        _ = try add(problem, line: line, Digest16(of: line.span))
    }

    /// Adds a problem, and returns whether it is reported.
    ///
    /// A problem that an earlier bundle contains is not added to the new bundle. It is reported nevertheless if it is a
    /// loss, because the data is still missing.
    private mutating func add(
        _ problem: LocatedProblem, line: [UInt8], _ digest: Digest16
    ) throws(FileError) -> Bool {
        let isOmitted = earlier.details.contains(digest)
        if isOmitted { omitted.problems += 1 }
        guard !isOmitted || problem.problem.isLoss else { return false }
        let code = visibleText(problem.problem.code)
        problems.add(problem, reason: code)
        if problem.problem.isLoss { losses.add(problem, reason: code) }
        if problem.problem.isWarning { warnings.add(problem, reason: code) }
        guard !isOmitted else { return true }
        if keepsDetails { try spill.problems.append(line) }
        collectIndexKey(digest)
        return true
    }
}

/// The number of items that left the quarantine of bundles, and of records that were found in it.
public struct RereadCounts: Sendable {
    /// The number of items.
    public private(set) var items = 0
    /// The number of records.
    public private(set) var records = 0

    /// Whether nothing was found.
    public var isEmpty: Bool { items == 0 && records == 0 }

    static func += (left: inout RereadCounts, right: RereadCounts) {
        left.items += right.items
        left.records += right.records
    }
}

/// The choice of a copy of a record, although other copies have other holds.
public struct CopyDecision: Sendable, Hashable {
    /// The rank of the copy that was kept.
    public let rank: CopyRank
    /// The label of the capture of the copy, or the path of its bundle.
    @CapturedText public private(set) var capture: String
}

// MARK: - CappedList

/// A list that keeps its first elements, and counts all elements by their codes.
public struct CappedList<Element: Sendable>: Sendable {
    /// The default maximum number of kept elements.
    public static var defaultLimit: Int { 1000 }

    /// The elements that are kept.
    public private(set) var elements: [Element] = []
    /// The number of all elements.
    public private(set) var count = 0
    /// The number of all elements with each code.
    public private(set) var countsByCode: [CapturedText: Int] = [:]
    private let elementLimit: Int
    private let codeLimit: Int

    /// Creates an empty list.
    ///
    /// `elementLimit` is the maximum number of kept elements. `codeLimit` is the maximum number of codes that are
    /// counted separately, because bundles may contain any number of codes. Further codes count as `other`.
    public init(limit elementLimit: Int = CappedList.defaultLimit, codeLimit: Int = 1000) {
        self.elementLimit = elementLimit
        self.codeLimit = codeLimit
    }

    /// The number of elements that are not kept.
    public var omittedCount: Int { count - elements.count }

    /// Adds an element under the code that precedes the first space in `reason`.
    public mutating func add(_ element: Element, reason: String) {
        count += 1
        if elements.count < elementLimit { elements.append(element) }
        let code = String(reason.prefix { $0 != " " })
        countsByCode[countsByCode[code] != nil || countsByCode.count < codeLimit ? code : "other", default: 0] += 1
    }
}
