import Bundle
import Capture
import Files
import JSONText
import Telemetry

/// Takes records as they are read: leaves duplicates out, notes ids that come again with another payload, keeps the
/// quarantine and the problems.
struct Intake {
    private(set) var duplicates = 0
    private(set) var quarantined: [Batch.QuarantineEntry] = []
    private(set) var problems: [PlacedProblem] = []
    /// What was read, whether it was kept or not.
    private(set) var totals = BundleTotals()
    private(set) var isIncomplete = false
    /// What folders of Sift's SDK hold besides requests.
    private(set) var sift: [Batch.SiftEntry] = []
    private var index = DuplicateIndex()
    /// The lines of what is quarantined and of the problems: bundles that are packed together may tell the same.
    private var details: Set<[UInt8]> = []

    /// Codes of problems that mean that something was not read.
    private static let losses: Set<String> = ["unreadable", "damaged", "quarantine-limit", "changed"]

    /// Codes of problems that mean that something stands in the place of a store and is none: nothing is lost of what was
    /// given, but somebody may have meant to give it.
    private static let strangers: Set<String> = ["link", "special"]

    /// Takes a batch.
    /// - Parameter keep: takes each record that is kept, its line, and the part of the line that is its payload.
    mutating func take(
        _ batch: Batch, fromBundle isBundle: Bool,
        keep: (Batch.Entry, ArraySlice<UInt8>, ArraySlice<UInt8>) throws -> Void
    ) throws {
        for entry in batch.records {
            switch index.insert(entry.key) {
            case .duplicate:
                duplicates += 1
                continue
            case .new:
                try keep(entry, batch.lines[entry.line], batch.lines[entry.payload])
            case .sameIDOtherPayload:
                let (line, payload) = Self.noted(batch.lines[entry.line], payload: batch.lines[entry.payload])
                try keep(entry, line, payload)
            }
            totals.count(entry.summary)
        }
        for entry in batch.quarantined where details.insert(entry.item.json.bytes).inserted {
            quarantined.append(entry)
        }
        for problem in batch.problems where details.insert(problem.json.bytes).inserted { problems.append(problem) }
        sift += batch.sift
        // What a bundle carries along was reported when the bundle was made.
        if isBundle { return }
        if !batch.quarantined.isEmpty || batch.problems.contains(where: { Self.isLoss($0.problem) }) {
            isIncomplete = true
        }
    }

    /// Notes that something for the quarantine is not carried along.
    mutating func lose(_ code: String, _ text: String, _ item: Quarantined) {
        problems.append(PlacedProblem(capture: item.capture, path: item.path, problem: Problem(code, text)))
        isIncomplete = true
    }

    /// Whether a problem means that something was not read or not kept.
    static func isLoss(_ problem: Problem) -> Bool { losses.contains(problem.code) }

    /// Whether a problem is worth a word, though nothing was lost.
    static func isWarning(_ problem: Problem) -> Bool { strangers.contains(problem.code) }

    /// A line with the note that its id stands on another record too [P11].
    private static func noted(_ line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) -> (
        line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>
    ) {
        var document = JSONDocument()
        guard var record = try? Record(line: Array(line.dropLast()), using: &document),
            !record.notes.contains(where: { $0.hasPrefix(repeatedIDCode) })
        else { return (line, payload) }
        record.notes.insert("\(repeatedIDCode) id also used by an earlier record with different content", at: 0)
        var noted: [UInt8] = []
        let range = record.write(to: &noted)
        return (noted[...], noted[range])
    }

    private static let repeatedIDCode = "P11"
}
