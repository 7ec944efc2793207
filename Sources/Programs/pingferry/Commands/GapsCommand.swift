import ArgumentParser
import Bundle
import Bytes
import Capture
import Console
import Export
import Files
import JSONText
import Systems
import Telemetry

/// The command `gaps`, which reports missing and repeated sequence numbers.
struct GapsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gaps",
        abstract: "Report missing and repeated sequence numbers.",
        discussion: """
            Clients of \(numberedSystems) number their uploads. For each client, system and type, gaps shows which \
            numbers are missing between those present, between which times, and which numbers several different \
            records have. A missing number is an upload that was lost, or that the device sent itself.
              pingferry gaps monday.tar.zst tuesday.tar.zst phone-7/

            If the number falls back to the start while time goes on, the sequence restarts, for example because the \
            app was installed again. Each run of numbers between restarts is examined separately.

            --expect compares the numbers with those that a server has: FILE is NDJSON, or CSV with a header, with the \
            columns system, client, type and seq. The result is which numbers the input adds, which neither has, and \
            which only the server has. Runs are not distinguished, because the list has no times.
              pingferry gaps --expect server.csv monday.tar.zst

            The counter that an app stores is compared with its newest record: numbers at the end are those that the \
            app used later. It sent these uploads itself, or they were lost. Not compared with --since, --until and \
            --uploadable, or if the sequence restarts.

            The filters select the records that are examined, so --uploadable makes the numbers of held records \
            missing. Shows the \(GapListing.rowLimit) most notable lines of each list; --json shows all.

            The exit status is 0 whether or not numbers are missing.
            """)

    private static let numberedSystems = Systems.table.all.filter { $0.sequence != nil }.map(\.name.description)
        .joined(separator: ", ")

    @Option(
        help: ArgumentHelp(
            "Compare with the sequence numbers in a list, such as those that a server has received.",
            valueName: "file"), completion: .file())
    var expect: String?

    @Flag(help: "Read the intact parts of damaged bundles.")
    var salvage = false

    @OptionGroup var input: InputOptions
    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    func validate() throws {
        guard expect != nil else { return }
        for (option, isUsed) in [
            ("--since", filters.since != nil), ("--until", filters.until != nil), ("--uploadable", filters.uploadable),
        ] where isUsed {
            throw ValidationError("\(option) cannot be used with --expect, because the list contains only numbers")
        }
    }

    func run() async throws {
        try await reportingErrors {
            let filter = try filters.filter()
            var clients = ClientIndex()
            var sequences = SequenceIndex(Systems.table)
            var list: ListCounts?
            if let expect { list = try Self.read(expect, matching: filter, into: &sequences, &clients) }
            let limit = common.jobLimit
            let opening = try input.opener(limit, backups, isQuiet: common.quiet, salvages: salvage)
            let reader = CaptureReader(
                try await opening.open(input.paths), paths: input.paths,
                options: common.scanOptions(
                    filter: filter, reportsQueues: comparesCounters, numberedSystems: Systems.table), limit: limit)
            let intake = try await common.read(
                reader, listing: input.storeListing(of: reader),
                keep: { entry, _, _ in
                    let record = entry.summary
                    let client = clients.number(of: record.client, system: record.system)
                    sequences.add(entry.sequenceNumber ?? .unnumbered, of: record, client: client)
                })
            for counter in intake.reports.flatMap(\.report.counters)
            where Self.filter(filter, accepts: counter.system, counter.type, client: counter.client) {
                let client = clients.number(of: counter.client, system: counter.system)
                sequences.add(counter: counter.lastNumber, client: client, type: counter.type)
            }
            let listing = GapListing(sequences, clients, list)
            let summary = Summary(intake, of: reader.options)
            if common.json {
                try summary.printJSON(as: .gaps, arrays: [("sequences", listing.forEachObject)], listing.addTotals)
            } else if !common.quiet {
                try listing.printTables()
            }
            try summary.finish(isQuiet: common.quiet)
        }
    }

    /// Whether the counters of apps are compared, which requires that the newest records are read.
    private var comparesCounters: Bool { filters.since == nil && filters.until == nil && !filters.uploadable }

    private static func filter(
        _ filter: RecordFilter, accepts system: SystemName, _ type: String, client: String
    ) -> Bool {
        (filter.systems.isEmpty || filter.systems.contains(system))
            && (filter.types.isEmpty || filter.types.contains(type))
            && (filter.clients.isEmpty || filter.clients.contains(ClientID(client)))
    }

    /// The path of an expected list, and the number of its rows.
    fileprivate struct ListCounts {
        let path: String
        var rowCount = 0
        /// The number of rows that the filter rejects.
        var rejectedCount = 0
    }

    private static let chunkSize = 1 << 20

    /// Adds the numbers in the expected list at `path` to `sequences`, except for rows that `filter` rejects.
    private static func read(
        _ path: String, matching filter: RecordFilter, into sequences: inout SequenceIndex, _ clients: inout ClientIndex
    ) throws -> ListCounts {
        var counts = ListCounts(path: path)
        sequences.compareWithExpectedNumbers()
        let file = ByteSource(try InputFile(path: path))
        var list = ExpectedList(Systems.table)
        func add(_ row: ExpectedNumber) {
            counts.rowCount += 1
            guard Self.filter(filter, accepts: row.system, row.type, client: row.client) else {
                return counts.rejectedCount += 1
            }
            let client = clients.number(of: row.client, system: row.system)
            sequences.add(expected: row.number, client: client, type: row.type)
        }
        do {
            var offset = 0
            while offset < file.count {
                let bytes = try file.bytes(at: offset, count: min(chunkSize, file.count - offset))
                guard !bytes.isEmpty else { break }
                try list.read(bytes.span, add)
                offset += bytes.count
            }
            try list.finish(add)
            guard try file.isUnchanged(), offset == file.count else {
                throw CommandError(
                    status: .inputOutput, path: path, message: "changed while it was read",
                    remedy: "run the command again"
                )
            }
        } catch let error as ExpectedListError {
            throw CommandError(
                status: .badData, path: path, message: "\(error)",
                remedy: """
                    pass NDJSON, or CSV with a header, with the columns system, client, type and seq; the numbered \
                    systems are \(numberedSystems)
                    """)
        }
        return counts
    }
}

/// The sequences of the numbered records for display, as text or as JSON.
private struct GapListing {
    /// The maximum number of rows of a table.
    static let rowLimit = 20
    /// The maximum number of ranges in a cell.
    private static let rangeLimit = 4

    private let sequences: SequenceIndex
    private let clients: ClientIndex
    /// The counts of the expected list, or `nil` if no list was given.
    private let list: GapsCommand.ListCounts?
    private let summary: GapSummary

    init(_ sequences: SequenceIndex, _ clients: ClientIndex, _ list: GapsCommand.ListCounts?) {
        self.sequences = sequences
        self.clients = clients
        self.list = list
        summary = GapSummary(limit: Self.rowLimit) { body in sequences.forEachSequence(of: clients, body) }
    }

    // MARK: Text

    func printTables() throws {
        try Terminal.print(sentence)
        if let line = omittedLine { try Terminal.print(line) }
        for line in comparisonLines { try Terminal.print(line) }
        try TextTable(
            header: ["client", "system", "type", "numbers", "records", "missing", "gaps", "repeated", "restarts"],
            rows: summary.largestSequences.values.map(Self.cells)
        ).print(titled: "sequences with gaps", of: summary.incompleteCount)
        try TextTable(
            header: ["client", "system", "type", "reason", "numbers", "count", "time before", "time after"],
            rows: summary.largestRows.values.map(Self.cells)
        ).print(titled: "gaps", of: summary.rowCount)
        try TextTable(
            header: ["client", "system", "type", "newest record", "counter", "numbers at the end", "count"],
            rows: summary.largestEnds.values.map(Self.endCells)
        ).print(titled: "numbers at the end", of: summary.endCount)
        try TextTable(
            header: ["client", "system", "type", "only input", "only list", "neither"],
            rows: summary.largestComparisons.values.map(Self.comparisonCells)
        ).print(titled: "differences from the list", of: summary.differenceCount)
    }

    /// A line such as `2 sequences of 1 client with 6 records: 1 number missing in 1 gap, 0 repeated, 0 restarts`.
    private var sentence: String {
        let totals = summary.totals
        let sequences = summary.sequenceCount.counted("sequence")
        let clients = summary.clientCount.counted("client")
        let records = totals.recordCount.counted("record")
        let missing = totals.missingCount.counted("number")
        let gaps = totals.gapCount.counted("gap")
        let restarts = totals.restartCount.counted("restart")
        return "\(sequences) of \(clients) with \(records): \(missing) missing in \(gaps), "
            + "\(totals.repeatedCount) repeated, \(restarts)"
    }

    /// The number of records that belong to no sequence, for each reason.
    private var omittedCounts: [(key: JSONKey, text: String, count: Int)] {
        let omitted = sequences.omitted
        return [
            ("unnumbered", "of types that are not numbered", omitted.unnumbered),
            ("missing", "without a number", omitted.missing),
            ("invalid", "with an invalid number", omitted.invalid),
            ("withoutClient", "without a client", omitted.withoutClient),
            ("sharedClient", "with a client id that many devices share", omitted.sharedClient),
        ]
    }

    private var omittedLine: String? {
        let counts = omittedCounts.filter { $0.count > 0 }
        guard !counts.isEmpty else { return nil }
        return "records in no sequence: " + counts.map { "\($0.count) \($0.text)" }.joined(separator: ", ")
    }

    private var comparisonLines: [String] {
        guard let list else { return [] }
        let totals = summary.comparisonTotals
        var rows = list.rowCount.counted("row")
        let omitted = [(list.rejectedCount, "rejected by filters"), (totals.repeatedRowCount, "repeated")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if !omitted.isEmpty { rows += " (\(omitted.joined(separator: ", ")))" }
        return [
            "\(list.path): \(rows); numbers in both: \(totals.commonCount), only in the input: \(totals.filledCount), "
                + "only in the list: \(totals.expectedOnlyCount), in neither: \(totals.openCount)"
        ]
    }

    private static func cells(_ sequence: NumberedSequence) -> [String] {
        let present = sequence.runs.flatMap(\.present)
        let numbers = present.map(\.lowerBound).min().flatMap { low in
            present.map(\.upperBound).max().map { text(low...$0) }
        }
        let totals = SequenceTotals(sequence)
        return [
            sequence.client, sequence.system.description, sequence.type, numbers ?? "", "\(totals.recordCount)",
            "\(totals.missingCount)", "\(totals.gapCount)", "\(totals.repeatedCount)", "\(totals.restartCount)",
        ]
    }

    private static func cells(_ row: GapRow) -> [String] {
        let restart = [row.numberBefore, row.numberAfter].compactMap { $0.map(String.init) }.joined(separator: " to ")
        return [
            row.client, row.system.description, row.type, row.reason.rawValue, row.numbers.map(text) ?? restart,
            "\(row.count)", row.timeBefore?.description ?? "", row.timeAfter?.description ?? "",
        ]
    }

    private static func endCells(_ sequence: NumberedSequence) -> [String] {
        guard let numbers = sequence.numbersAtEnd else { return [] }
        return [
            sequence.client, sequence.system.description, sequence.type, "\(numbers.lowerBound - 1)",
            "\(numbers.upperBound)", text(numbers), "\(numbers.sequenceCount)",
        ]
    }

    private static func comparisonCells(_ sequence: NumberedSequence) -> [String] {
        let comparison = sequence.comparison
        let ranges = [comparison?.filled, comparison?.expectedOnly, comparison?.open]
        return [sequence.client, sequence.system.description, sequence.type] + ranges.map { text($0 ?? []) }
    }

    /// Returns a range such as `4-7`, or a single number.
    private static func text(_ range: ClosedRange<Int64>) -> String {
        range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
    }

    /// Returns the first elements of `ranges`, such as `4-7, 9`, and the number of omitted elements.
    private static func text(_ ranges: [ClosedRange<Int64>]) -> String {
        let more = ranges.count - rangeLimit
        return ranges.prefix(rangeLimit).map(text).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }

    // MARK: JSON

    /// Adds the totals to `object`, which is the JSON summary of the command.
    func addTotals(to object: inout CanonicalObject) {
        let totals = summary.totals
        object.set(
            "gaps",
            [
                "clients": summary.clientCount, "gaps": totals.gapCount, "missing": totals.missingCount,
                "numbersAtEnd": summary.numbersAtEndCount,
                "records": totals.recordCount, "repeated": totals.repeatedCount, "restarts": totals.restartCount,
                "sequences": summary.sequenceCount,
            ] as CanonicalObject)
        var omitted = CanonicalObject()
        for (key, _, count) in omittedCounts { omitted.set(key, count) }
        object.set("omitted", omitted)
        object.set("list", list.map(listTotals))
    }

    /// Returns the totals of the comparison with an expected list.
    private func listTotals(_ list: GapsCommand.ListCounts) -> CanonicalObject {
        let comparison = summary.comparisonTotals
        return [
            "both": comparison.commonCount, "inputOnly": comparison.filledCount,
            "listOnly": comparison.expectedOnlyCount, "neither": comparison.openCount, "path": list.path,
            "rejectedRows": list.rejectedCount, "repeatedRows": comparison.repeatedRowCount, "rows": list.rowCount,
        ]
    }

    /// Calls `body` with a JSON object for each sequence.
    func forEachObject(_ body: (CanonicalObject) throws -> Void) throws {
        try sequences.forEachSequence(of: clients) { try body(Self.object(of: $0)) }
    }

    private static func object(of sequence: NumberedSequence) -> CanonicalObject {
        [
            "client": sequence.client, "counter": sequence.counter, "list": sequence.comparison.map(object),
            "runs": sequence.runs.map(object),
            "numbersAtEnd": sequence.numbersAtEnd?.bounds, "system": sequence.system.description, "type": sequence.type,
        ]
    }

    private static func object(of comparison: ExpectedComparison) -> CanonicalObject {
        [
            "inputOnly": comparison.filled.map(\.bounds), "listOnly": comparison.expectedOnly.map(\.bounds),
            "neither": comparison.open.map(\.bounds),
        ]
    }

    private static func object(of run: SequenceRun) -> CanonicalObject {
        let missing = run.missing.map { gap -> CanonicalObject in
            [
                "count": gap.numbers.sequenceCount, "numbers": gap.numbers.bounds,
                "timeAfter": gap.timeAfter?.description, "timeBefore": gap.timeBefore?.description,
            ]
        }
        let repeated = run.repeated.map { repetition -> CanonicalObject in
            [
                "count": repetition.extraCount, "first": repetition.firstTime?.description,
                "last": repetition.lastTime?.description, "numbers": repetition.numbers.bounds,
            ]
        }
        return [
            "first": run.firstTime?.description, "last": run.lastTime?.description, "missing": missing,
            "present": run.present.map(\.bounds), "records": run.recordCount, "repeated": repeated,
        ]
    }
}

extension ClosedRange<Int64> {
    /// The first and the last number.
    fileprivate var bounds: [Int64] { [lowerBound, upperBound] }
}
