import ArgumentParser
import Bundle
import Capture
import Console
import JSONText
import Telemetry

/// The summary that a command prints after it has read captures.
struct Summary {
    private let intake: Intake
    private let filter: FilterSummary

    /// - Parameter filter: which records were asked for.
    init(_ intake: Intake, of filter: RecordFilter) {
        self.intake = intake
        self.filter = FilterSummary(intake.filtered, of: filter)
    }

    /// `5 records (4 uploadable; held: schema 1), 2 duplicates left out, 1 quarantined`
    var sentence: String {
        let totals = intake.totals
        var parts = ["\(Self.count(totals.records, "record"))\(Self.details(of: totals))"]
        if intake.duplicates > 0 { parts.append("\(Self.count(intake.duplicates, "duplicate")) left out") }
        if intake.quarantined.count > 0 { parts.append("\(intake.quarantined.count) quarantined") }
        return parts.joined(separator: ", ")
    }

    /// Prints the summary for machines.
    /// - Parameter extend: adds what the command alone knows.
    func printJSON(_ extend: (inout CanonicalObject) -> Void) throws {
        var object = CanonicalObject()
        object.set("complete", boolean: !intake.isIncomplete)
        object.set("duplicates", integer: intake.duplicates)
        object.set("filters", object: filter.json)
        object.set("problemCounts", object: CanonicalObject(counts: intake.problems.counts))
        object.set("problems", elements: intake.problems.elements.map(\.json.bytes))
        object.set("quarantineCounts", object: CanonicalObject(counts: intake.quarantined.counts))
        object.set("quarantined", elements: intake.quarantined.elements.map(\.coded.bytes))
        object.set("totals", object: intake.totals.json)
        extend(&object)
        try Terminal.print(object)
    }

    /// Prints to standard error what was not understood, and ends with status 1 if that was a loss.
    func finish() throws {
        for line in filter.lines { StandardError.write("pingferry: \(line)") }
        for problem in intake.warnings.elements.prefix(Self.mostReported) {
            StandardError.write("pingferry: \(problem.sentence)")
        }
        guard intake.isIncomplete else { return }
        for item in intake.quarantined.elements.prefix(Self.mostReported) {
            StandardError.write(
                "pingferry: \(item.capture): \(item.path)\(Self.place(item.reject)): \(item.reject.reason)")
        }
        for problem in intake.losses.elements.prefix(Self.mostReported) {
            StandardError.write("pingferry: \(problem.sentence)")
        }
        let unnamed =
            max(0, intake.quarantined.count - Self.mostReported) + max(0, intake.losses.count - Self.mostReported)
        if unnamed > 0 { StandardError.write("pingferry: and \(unnamed) more") }
        throw ExitCode(ExitStatus.incomplete.rawValue)
    }

    /// A terminal is no place for a hundred thousand lines; they are all in the bundle.
    private static let mostReported = 20

    private static func place(_ reject: Reject) -> String {
        reject.offset.map { " at byte \($0)" } ?? ""
    }

    /// ` (4 uploadable; held: schema 1)`
    static func details(of totals: BundleTotals) -> String {
        guard totals.records > 0 else { return "" }
        let holds = totals.holds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let held = holds.isEmpty ? "" : "; held: \(holds.joined(separator: ", "))"
        return " (\(totals.uploadable) uploadable\(held))"
    }

    /// `1 record`, `2 records`
    static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}

extension PlacedProblem {
    /// `phone.zip: Documents/x.json: damaged`; what is said of a capture as a whole has no path.
    var sentence: String {
        [capture, path, problem.text].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
