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
    /// The id of the key that pseudonyms were made with, or `nil` if none were made.
    private let pseudonymKeyID: String?

    /// Creates a summary of what was read with some options.
    init(_ intake: Intake, of options: ScanOptions) {
        self.intake = intake
        filter = FilterSummary(intake.filtered, of: options.filter)
        pseudonymKeyID = options.pseudonymizer?.keyID
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
        var object = json
        extend(&object)
        try Terminal.print(object)
    }

    /// Prints the summary for machines with an array that may be larger than memory.
    /// - Parameters:
    ///   - key: the key of the array.
    ///   - elements: passes the elements of the array, one after another, to the function that it is given.
    ///   - extend: adds what the command alone knows besides.
    func printJSON(
        streaming key: JSONKey, _ elements: @escaping JSONObjectPrinter.Elements,
        _ extend: (inout CanonicalObject) -> Void
    ) throws {
        var object = json
        extend(&object)
        try JSONObjectPrinter.print(object, arrays: [(key, elements)])
    }

    private var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("complete", boolean: !intake.isIncomplete)
        object.set("duplicates", integer: intake.duplicates)
        object.set("filters", object: filter.json)
        object.set("problemCounts", object: CanonicalObject(counts: intake.problems.counts))
        object.set("problems", elements: intake.problems.elements.map(\.json.bytes))
        if let pseudonymKeyID {
            var made = intake.leftOut.json
            made.set("key", string: pseudonymKeyID)
            object.set("pseudonymized", object: made)
        }
        object.set("quarantineCounts", object: CanonicalObject(counts: intake.quarantined.counts))
        object.set("quarantined", elements: intake.quarantined.elements.map(\.jsonWithCode.bytes))
        object.set("totals", object: intake.totals.json)
        return object
    }

    /// Prints to standard error what was not understood, and ends with status 1 if that was a loss.
    /// - Parameter isQuiet: whether what pseudonyms left out of payloads is to be told in the summary for machines alone.
    func finish(isQuiet: Bool = false) throws {
        for line in filter.lines { StandardError.write("pingferry: \(line)") }
        if pseudonymKeyID != nil { return try finishPseudonyms(isQuiet: isQuiet) }
        for problem in intake.warnings.elements.prefix(Self.reportLimit) {
            StandardError.write("pingferry: \(problem.sentence)")
        }
        guard intake.isIncomplete else { return }
        for item in intake.quarantined.elements.prefix(Self.reportLimit) {
            StandardError.write(
                "pingferry: \(item.capture): \(item.path)\(Self.position(item.reject)): \(item.reject.reason)")
        }
        for problem in intake.losses.elements.prefix(Self.reportLimit) {
            StandardError.write("pingferry: \(problem.sentence)")
        }
        let unnamed =
            max(0, intake.quarantined.count - Self.reportLimit) + max(0, intake.losses.count - Self.reportLimit)
        if unnamed > 0 { StandardError.write("pingferry: and \(unnamed) more") }
        throw ExitCode(ExitStatus.incomplete.rawValue)
    }

    /// What is left out to make pseudonyms is counted, not named: names of files and pieces of input stand in it.
    private func finishPseudonyms(isQuiet: Bool) throws {
        let leftOut = intake.leftOut
        let values = [
            (leftOut.dropped, "dropped by rules"), (leftOut.malformed, "not in the documented form"),
            (leftOut.unnamed, "named by no rule"),
        ]
        if !isQuiet { Self.report("values left out of payloads", values.map { ($0.1, $0.0) }) }
        Self.report("quarantined and left out", intake.quarantined.counts.sorted { $0.key < $1.key })
        Self.report("problems left out", intake.problems.counts.sorted { $0.key < $1.key })
        if intake.isIncomplete { throw ExitCode(ExitStatus.incomplete.rawValue) }
    }

    /// `pingferry: problems left out: 3 (unreadable 2, link 1)`; nothing if there are none.
    private static func report(_ what: String, _ counts: [(key: String, value: Int)]) {
        let counts = counts.filter { $0.value > 0 }
        guard !counts.isEmpty else { return }
        let details = counts.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        StandardError.write("pingferry: \(what): \(counts.reduce(0) { $0 + $1.value }) (\(details))")
    }

    /// A terminal is no place for a hundred thousand lines; they are all in the bundle.
    private static let reportLimit = 20

    private static func position(_ reject: Reject) -> String {
        reject.offset.map { " at byte \($0)" } ?? ""
    }

    /// ` (4 uploadable; held: schema 1)`
    static func details(of totals: BundleTotals) -> String {
        guard totals.records > 0 else { return "" }
        let held = totals.holds.isEmpty ? "" : "; held: \(list(totals.holds))"
        return " (\(totals.uploadable) uploadable\(held))"
    }

    /// `core 2, event 1`
    static func list(_ counts: [String: Int]) -> String {
        counts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", ")
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
