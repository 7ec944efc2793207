import Telemetry

/// Collects the problems of a backup.
///
/// The first hundred are reported individually, and the others by their number.
struct BackupProblems {
    private struct Kind: Hashable {
        let code: String
        let caseID: String?
        let isLoss: Bool?

        /// The key by which the kinds are sorted.
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
    /// `caseID` is the case of "iOS backups", section 10, and begins the text.
    mutating func report(_ code: String, _ caseID: String, _ words: String) {
        add(code, "\(caseID) \(words)", at: path, isLoss: nil)
    }

    /// Reports a problem at a path in the backup.
    ///
    /// `caseID` is `nil` if the operating system reported the problem. The code decides if `isLoss` is `nil`.
    ///
    /// - Returns: Whether the problem is reported individually.
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
