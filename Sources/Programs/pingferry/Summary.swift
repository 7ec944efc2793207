import ArgumentParser
import Bundle
import Bytes
import Capture
import Console
import JSONText
import Systems
import Telemetry

/// The summary that a command prints after it has read captures.
struct Summary {
    private let intake: Intake
    private let filter: FilterSummary
    /// The id of the pseudonym key, or `nil` if no pseudonyms were made.
    private let pseudonymKeyID: String?
    /// The unit to which times were rounded down, or `nil` if they were kept.
    private let timeUnit: TimeUnit?

    init(_ intake: Intake, of options: ScanOptions) {
        self.intake = intake
        filter = FilterSummary(intake.filterFindings, of: options.filter)
        pseudonymKeyID = options.pseudonymizer?.keyID
        timeUnit = options.pseudonymizer?.timeUnit
    }

    /// A line such as `5 records (4 uploadable; held: schema 1), 2 duplicates omitted, 1 quarantined`.
    var sentence: String {
        var parts = [Self.records(in: intake.totals)]
        if intake.duplicateCount > 0 { parts.append("\(intake.duplicateCount.counted("duplicate")) omitted") }
        if intake.omitted.records > 0 {
            parts.append("\(intake.omitted.records.counted("record")) of earlier bundles omitted")
        }
        let found = intake.rereadCounts
        if !found.isEmpty {
            parts.append(
                "\(found.records.counted("record")) found in quarantine, which \(found.items.counted("item")) left")
        }
        if intake.quarantinedItems.count > 0 { parts.append("\(intake.quarantinedItems.count) quarantined") }
        return parts.joined(separator: ", ")
    }

    /// Lines that name the copies and the withdrawals because of which records are held.
    ///
    /// Counts of people whose ids are hidden by pseudonyms are not listed.
    var decisionLines: [String] {
        guard pseudonymKeyID == nil else { return [] }
        let decisions = sortedDecisions.map { decision, count in
            "\(count.counted("record")) held by a copy in \(decision.capture): \(decision.rank.text)"
        }
        let withdrawals = sortedWithdrawals.map { withdrawal in
            "\(withdrawal.reason.rawValue): \(withdrawal.subject) (\(withdrawal.capture): \(withdrawal.path))"
        }
        return Self.capped(decisions) + Self.capped(withdrawals)
    }

    private static func capped(_ lines: [String]) -> [String] {
        let unnamed = lines.count - maximumReportedProblems
        return lines.prefix(maximumReportedProblems) + (unnamed > 0 ? ["and \(unnamed) more; --json lists all"] : [])
    }

    private var sortedDecisions: [(CopyDecision, Int)] {
        intake.decisionCounts.sorted { left, right in
            let (first, second) = (left.key, right.key)
            return (CapturedText(first.capture), first.rank) < (CapturedText(second.capture), second.rank)
        }
    }

    private var sortedWithdrawals: [Withdrawal] {
        intake.withdrawals.map { ($0, $0.json.bytes) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
    }

    /// Prints the summary as JSON, with the members that `extend` adds, and `arrays`, which may be larger than memory.
    func printJSON(
        as form: JSONForm, arrays: [(key: JSONKey, elements: CanonicalObject.Elements)] = [],
        _ extend: (inout CanonicalObject) -> Void
    ) throws {
        var object = json
        extend(&object)
        try JSONResult.print(object, arrays: arrays, as: form)
    }

    private var json: CanonicalObject {
        let copies = sortedDecisions.map { decision, count -> CanonicalObject in
            ["capture": decision.capture, "held": decision.rank.text, "records": count]
        }
        let missingParents = intake.missingParents.map { fault -> CanonicalObject in
            ["bundle": fault.bundle, "digest": fault.digest]
        }
        var object: CanonicalObject = [
            "complete": !intake.isIncomplete, "copies": copies, "duplicates": intake.duplicateCount,
            "filters": filter.json, "missingParents": missingParents,
            "problemCounts": intake.problems.countsByCode, "problems": intake.problems.elements.map(\.json),
            "quarantineCounts": intake.quarantinedItems.countsByCode,
            "quarantined": intake.quarantinedItems.elements.map(\.jsonWithCode),
            "reread": ["items": intake.rereadCounts.items, "records": intake.rereadCounts.records] as CanonicalObject,
            "totals": intake.totals.json,
            "withdrawals": sortedWithdrawals.map(\.json),
        ]
        if let pseudonymKeyID {
            var made = intake.removedPartCounts.json
            made.set("key", pseudonymKeyID)
            if let timeUnit { made.set("times", timeUnit.rawValue) }
            object.set("pseudonymized", made)
        }
        return object
    }

    /// Prints problems and quarantined items to standard error, and throws an exit status if the input is incomplete.
    func finish(isQuiet: Bool = false) throws {
        for line in filter.lines { StandardError.write("pingferry: \(line)") }
        if pseudonymKeyID != nil { return try finishPseudonyms(isQuiet: isQuiet) }
        for problem in intake.warnings.elements.prefix(Self.maximumReportedProblems) {
            StandardError.write("pingferry: \(problem.sentence)")
        }
        let unnamedWarnings = intake.warnings.count - Self.maximumReportedProblems
        if unnamedWarnings > 0 { StandardError.write("pingferry: and \(unnamedWarnings.counted("more warning"))") }
        guard intake.isIncomplete else { return }
        for item in intake.quarantinedItems.elements.prefix(Self.maximumReportedProblems) {
            StandardError.write(
                "pingferry: \(item.capture): \(item.path)\(Self.position(item.reject)): \(item.reject.reason)")
        }
        for problem in intake.losses.elements.prefix(Self.maximumReportedProblems) {
            StandardError.write("pingferry: \(problem.sentence)")
        }
        let unnamed =
            max(0, intake.quarantinedItems.count - Self.maximumReportedProblems)
            + max(0, intake.losses.count - Self.maximumReportedProblems)
        if unnamed > 0 { StandardError.write("pingferry: and \(unnamed) more") }
        throw ExitCode(ExitStatus.incomplete.rawValue)
    }

    /// Prints only the counts of omitted data, because its paths and contents can identify people.
    private func finishPseudonyms(isQuiet: Bool) throws {
        let leftOut = intake.removedPartCounts
        let values = [
            (leftOut.dropped, "dropped by a rule"), (leftOut.malformed, "not in the documented form"),
            (leftOut.unnamed, "covered by no rule"),
        ]
        if !isQuiet { Self.report("values omitted from payloads", values.map { (CapturedText($0.1), $0.0) }) }
        Self.report("quarantined items omitted", intake.quarantinedItems.countsByCode.sorted { $0.key < $1.key })
        Self.report("problems omitted", intake.problems.countsByCode.sorted { $0.key < $1.key })
        if intake.isIncomplete { throw ExitCode(ExitStatus.incomplete.rawValue) }
    }

    /// Prints a line such as `pingferry: problems omitted: 3 (unreadable 2, link 1)`, unless all counts are zero.
    private static func report(_ subject: String, _ counts: [(key: CapturedText, value: Int)]) {
        let counts = counts.filter { $0.value > 0 }
        guard !counts.isEmpty else { return }
        let details = CountedList.text(of: counts.map { ($0.key.string, $0.value) })
        StandardError.write("pingferry: \(subject): \(counts.reduce(0) { $0 + $1.value }) (\(details))")
    }

    /// The maximum number of findings of each kind that are printed to standard error.
    private static let maximumReportedProblems = 20

    private static func position(_ reject: Reject) -> String { reject.offset.map { " at byte \($0)" } ?? "" }

    /// Returns the number of records, such as `5 records (4 uploadable; held: schema 1)`, or `0 records`.
    static func records(in totals: BundleTotals) -> String {
        let records = totals.records.counted("record")
        guard totals.records > 0 else { return records }
        let held = totals.holds.isEmpty ? "" : "; held: \(countList(totals.holds))"
        return "\(records) (\(totals.uploadableCount) uploadable\(held))"
    }

    /// Returns counts sorted by name, such as `core 2, event 1`, or only the highest counts if there are many.
    static func countList(_ counts: [CapturedText: Int]) -> String {
        CountedList.text(of: counts.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) })
    }
}

extension LocatedProblem {
    /// A line such as `phone.zip: Documents/x.json: damaged`, without the path if the problem affects a whole capture.
    var sentence: String { [capture, path, problem.text].filter { !$0.isEmpty }.joined(separator: ": ") }
}

/// The number of records that a filter rejected because they have no time, and the conditions that no record meets.
private struct FilterSummary {
    private let withoutTimeCount: Int
    private let unmatchedConditions: [FilterFindings.Unmatched]

    init(_ findings: FilterFindings, of filter: RecordFilter) {
        withoutTimeCount = findings.withoutTime
        unmatchedConditions = findings.unmatched(of: filter)
    }

    /// The lines to print to standard error.
    var lines: [String] {
        var lines = unmatchedConditions.map { "no record matches --\($0.condition) \($0.value)" }
        if withoutTimeCount > 0 {
            let (records, verb) = (withoutTimeCount.counted("record"), withoutTimeCount == 1 ? "was" : "were")
            lines.append("\(records) without a time \(verb) omitted because --since and --until require one")
        }
        return lines
    }

    var json: CanonicalObject {
        let unmatched = unmatchedConditions.map { unmatched -> CanonicalObject in
            ["filter": unmatched.condition, "value": unmatched.value]
        }
        return ["unmatched": unmatched, "withoutTime": withoutTimeCount]
    }
}

extension QuarantineEntry {
    /// The JSON object of the entry, with its reason also split into the members `code` and `text`.
    var jsonWithCode: CanonicalObject {
        let parts = reject.reason.split(separator: " ", maxSplits: 1)
        var object = json
        object.set("code", parts.first.map(String.init) ?? "")
        object.set("text", parts.count > 1 ? String(parts[1]) : "")
        return object
    }
}

extension Hold {
    /// A JSON object with the code of the hold and its detail, or the meaning of the code if there is no detail.
    var jsonWithCode: CanonicalObject {
        let known = Systems.table.holdCodes.first { $0.code == code }
        return ["code": code, "text": detail ?? known.map { "the record \($0.meaning)" }]
    }
}
