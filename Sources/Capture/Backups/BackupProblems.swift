import Bytes
import Telemetry

/// A list of the problems of a backup.
///
/// The first hundred problems are reported individually. Further problems at paths in the backup are only counted.
struct BackupProblems {
    private struct Kind: Hashable {
        @CapturedText var code: String
        @OptionalCapturedText var caseID: String?
        let isLoss: Bool?

        var sortKey: (String, String, Int) { (caseID ?? "", code, isLoss == true ? 1 : 0) }
    }

    private let label: String
    private let path: String
    private var problems: [LocatedProblem] = []
    private var unreportedCounts: [Kind: Int] = [:]

    private static let reportLimit = 100

    init(label: String, path: String) {
        self.label = label
        self.path = path
    }

    /// Reports a problem of the backup as a whole.
    ///
    /// The reported text begins with `caseID`, a case ID from "iOS backups", section 10.
    mutating func report(_ code: String, _ caseID: String, _ text: String) {
        add(code, "\(caseID) \(text)", at: path, isLoss: nil)
    }

    /// Reports a problem at a path in the backup, and returns whether it is reported individually.
    ///
    /// `caseID` is `nil` if the operating system reported the problem. If `isLoss` is `nil`, `code` determines whether
    /// data is lost.
    @discardableResult
    mutating func report(
        _ code: String, _ caseID: String?, _ text: String, at problemPath: String, isLoss: Bool? = nil
    ) -> Bool {
        guard problems.count < Self.reportLimit else {
            unreportedCounts[Kind(code: code, caseID: caseID, isLoss: isLoss), default: 0] += 1
            return false
        }
        add(code, caseID.map { "\($0) \(text)" } ?? text, at: problemPath, isLoss: isLoss)
        return true
    }

    private mutating func add(_ code: String, _ text: String, at problemPath: String, isLoss: Bool?) {
        problems.append(LocatedProblem(capture: label, path: problemPath, problem: Problem(code, text, isLoss: isLoss)))
    }

    consuming func finish() -> [LocatedProblem] {
        for (kind, count) in unreportedCounts.sorted(by: { $0.key.sortKey < $1.key.sortKey }) {
            let text = "\(count) more such problems in this backup"
            add(kind.code, kind.caseID.map { "\($0) and \(text)" } ?? text, at: path, isLoss: kind.isLoss)
        }
        return problems
    }
}
