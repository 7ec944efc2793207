import Bundle
import Console
import Export
import JSONText
import Telemetry

/// The sequences of the numbered records for display, as text or as JSON.
struct GapListing {
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
        try printSection(
            "sequences with gaps",
            ["client", "system", "type", "numbers", "records", "missing", "gaps", "repeated", "restarts"],
            summary.largestSequences.values.map(Self.cells), count: summary.incompleteCount)
        try printSection(
            "gaps",
            ["client", "system", "type", "reason", "numbers", "count", "time before", "time after"],
            summary.largestRows.values.map(Self.cells), count: summary.rowCount)
        try printSection(
            "differences from the list", ["client", "system", "type", "only input", "only list", "neither"],
            summary.largestComparisons.values.map(Self.cells), count: summary.differenceCount)
    }

    /// A line such as `2 sequences of 1 client with 6 records: 1 number missing in 1 gap, 0 repeated, 0 restarts`.
    private var sentence: String {
        let totals = summary.totals
        let sequences = Summary.count(summary.sequenceCount, "sequence")
        let clients = Summary.count(summary.clientCount, "client")
        let records = Summary.count(totals.recordCount, "record")
        let missing = Summary.count(totals.missingCount, "number")
        let gaps = Summary.count(totals.gapCount, "gap")
        let restarts = Summary.count(totals.restartCount, "restart")
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
        var rows = Summary.count(list.rowCount, "row")
        let omitted = [(list.rejectedCount, "rejected by filters"), (totals.repeatedRowCount, "repeated")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        if !omitted.isEmpty { rows += " (\(omitted.joined(separator: ", ")))" }
        return [
            "\(list.path): \(rows); numbers in both: \(totals.commonCount), only in the input: \(totals.filledCount), "
                + "only in the list: \(totals.expectedOnlyCount), in neither: \(totals.openCount)"
        ]
    }

    private func printSection(_ title: String, _ header: [String], _ rows: [[String]], count: Int) throws {
        guard !rows.isEmpty else { return }
        try Terminal.print("")
        try Terminal.print("\(title):")
        for line in TextTable(header: header, rows: rows).lines { try Terminal.print("  " + line) }
        if count > rows.count { try Terminal.print("  and \(count - rows.count) more; --json lists all") }
    }

    private static func cells(_ sequence: GapSummary.Sequence) -> [String] {
        let numbers = sequence.lowestNumber.flatMap { low in sequence.highestNumber.map { text(low...$0) } } ?? ""
        let totals = sequence.totals
        return [
            sequence.client, sequence.system.description, sequence.type, numbers, "\(totals.recordCount)",
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

    private static func cells(_ row: GapSummary.Comparison) -> [String] {
        let ranges = [row.comparison.filled, row.comparison.expectedOnly, row.comparison.open]
        return [row.client, row.system.description, row.type] + ranges.map(text)
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
        var counts = CanonicalObject()
        counts.set("clients", integer: summary.clientCount)
        counts.set("gaps", integer: totals.gapCount)
        counts.set("missing", integer: totals.missingCount)
        counts.set("records", integer: totals.recordCount)
        counts.set("repeated", integer: totals.repeatedCount)
        counts.set("restarts", integer: totals.restartCount)
        counts.set("sequences", integer: summary.sequenceCount)
        object.set("gaps", object: counts)
        var omitted = CanonicalObject()
        for (key, _, count) in omittedCounts { omitted.set(key, integer: count) }
        object.set("omitted", object: omitted)
        guard let list else { return object.set("list", string: nil) }
        let comparison = summary.comparisonTotals
        var compared = CanonicalObject()
        compared.set("both", integer: comparison.commonCount)
        compared.set("inputOnly", integer: comparison.filledCount)
        compared.set("listOnly", integer: comparison.expectedOnlyCount)
        compared.set("neither", integer: comparison.openCount)
        compared.set("path", string: list.path)
        compared.set("rejectedRows", integer: list.rejectedCount)
        compared.set("repeatedRows", integer: comparison.repeatedRowCount)
        compared.set("rows", integer: list.rowCount)
        object.set("list", object: compared)
    }

    /// Calls `body` with a JSON object for each sequence.
    func forEachObject(_ body: (CanonicalObject) throws -> Void) throws {
        try sequences.forEachSequence(of: clients) { try body(Self.object(of: $0)) }
    }

    private static func object(of sequence: NumberedSequence) -> CanonicalObject {
        var object = CanonicalObject()
        object.set("client", string: sequence.client)
        if let comparison = sequence.comparison {
            var compared = CanonicalObject()
            compared.set("inputOnly", elements: comparison.filled.map(\.jsonArray))
            compared.set("listOnly", elements: comparison.expectedOnly.map(\.jsonArray))
            compared.set("neither", elements: comparison.open.map(\.jsonArray))
            object.set("list", object: compared)
        } else {
            object.set("list", string: nil)
        }
        object.set("runs", objects: sequence.runs, set)
        object.set("system", string: sequence.system.description)
        object.set("type", string: sequence.type)
        return object
    }

    private static func set(_ object: inout CanonicalObject, _ run: SequenceRun) {
        object.set("first", string: run.firstTime?.description)
        object.set("last", string: run.lastTime?.description)
        object.set("missing", objects: run.missing) { object, gap in
            object.set("timeBefore", string: gap.timeBefore?.description)
            object.set("timeAfter", string: gap.timeAfter?.description)
            object.set("count", integer: gap.numbers.sequenceCount)
            object.set("numbers", canonical: gap.numbers.jsonArray)
        }
        object.set("present", elements: run.present.map(\.jsonArray))
        object.set("records", integer: run.recordCount)
        object.set("repeated", objects: run.repeated) { object, repetition in
            object.set("count", integer: repetition.extraCount)
            object.set("first", string: repetition.firstTime?.description)
            object.set("last", string: repetition.lastTime?.description)
            object.set("numbers", canonical: repetition.numbers.jsonArray)
        }
    }
}

extension ClosedRange<Int64> {
    /// The first and the last number as a JSON array.
    fileprivate var jsonArray: [UInt8] { Array("[\(lowerBound),\(upperBound)]".utf8) }
}
