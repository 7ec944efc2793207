import Telemetry

/// Collects the problems of a backup.
///
/// The first hundred are reported individually. Further problems are counted.
struct BackupProblems {
    private struct Kind: Hashable {
        let code: String
        let caseID: String?
        let isLoss: Bool?

        var order: (String, String, Int) { (caseID ?? "", code, isLoss == true ? 1 : 0) }
    }

    private let label: String
    private let path: String
    private var placed: [LocatedProblem] = []
    private var counts: [Kind: Int] = [:]

    private static let reportLimit = 100

    init(label: String, path: String) {
        self.label = label
        self.path = path
    }

    /// Reports a problem of the backup as a whole.
    ///
    /// `caseID` is a case ID from "iOS backups", section 10, with which the text begins.
    mutating func report(_ code: String, _ caseID: String, _ words: String) {
        add(code, "\(caseID) \(words)", at: path, isLoss: nil)
    }

    /// Reports a problem at a path in the backup, and returns whether it is reported individually.
    ///
    /// `caseID` is `nil` if the operating system reported the problem. If `isLoss` is `nil`, `code` determines whether
    /// data is lost.
    @discardableResult
    mutating func report(
        _ code: String, _ caseID: String?, _ words: String, at place: String, isLoss: Bool? = nil
    ) -> Bool {
        guard placed.count < Self.reportLimit else {
            counts[Kind(code: code, caseID: caseID, isLoss: isLoss), default: 0] += 1
            return false
        }
        add(code, caseID.map { "\($0) \(words)" } ?? words, at: place, isLoss: isLoss)
        return true
    }

    private mutating func add(_ code: String, _ text: String, at place: String, isLoss: Bool?) {
        placed.append(LocatedProblem(capture: label, path: place, problem: Problem(code, text, isLoss: isLoss)))
    }

    consuming func finish() -> [LocatedProblem] {
        for (kind, count) in counts.sorted(by: { $0.key.order < $1.key.order }) {
            let words = "\(count) more such problems in this backup"
            add(kind.code, kind.caseID.map { "\($0) and \(words)" } ?? words, at: path, isLoss: kind.isLoss)
        }
        return placed
    }
}
