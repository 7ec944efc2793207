import Telemetry

/// What is told of a backup: a hundred problems one by one, the others by their number.
struct BackupProblems {
    private struct Kind: Hashable {
        let code: String
        let caseID: String
        let isLoss: Bool?
    }

    /// The label of the capture.
    private let label: String
    /// The path of the backup in the capture.
    private let path: String
    private var placed: [PlacedProblem] = []
    private var counts: [Kind: Int] = [:]

    private static let mostTold = 100

    init(label: String, path: String) {
        self.label = label
        self.path = path
    }

    /// Tells a problem of the backup as a whole.
    mutating func tell(_ code: String, _ text: String, isLoss: Bool? = nil) {
        placed.append(PlacedProblem(capture: label, path: path, problem: Problem(code, text, isLoss: isLoss)))
    }

    /// Tells a problem of something in it.
    /// - Parameters:
    ///   - text: the case id, a space, and words.
    ///   - isLoss: Whether it is a loss. If `nil`, the code decides.
    /// - Returns: whether it is told by itself.
    @discardableResult
    mutating func tell(_ code: String, _ text: String, at place: String, isLoss: Bool? = nil) -> Bool {
        guard placed.count < Self.mostTold else {
            counts[Kind(code: code, caseID: String(text.prefix { $0 != " " }), isLoss: isLoss), default: 0] += 1
            return false
        }
        placed.append(PlacedProblem(capture: label, path: place, problem: Problem(code, text, isLoss: isLoss)))
        return true
    }

    /// All that is told.
    consuming func finish() -> [PlacedProblem] {
        for (kind, count) in counts.sorted(by: { ($0.key.caseID, $0.key.code) < ($1.key.caseID, $1.key.code) }) {
            tell(kind.code, "\(kind.caseID) and \(count) more such problems in this backup", isLoss: kind.isLoss)
        }
        return placed
    }
}
