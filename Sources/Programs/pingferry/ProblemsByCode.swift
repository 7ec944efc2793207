import Bytes
import Capture
import Telemetry

/// The number of problems with each code, and the first few problems with that code.
struct ProblemsByCode {
    private var groups: [CapturedText: CappedList<LocatedProblem>] = [:]

    /// The maximum number of problems that are kept for each code.
    static let maximumShownPerCode = 3
    /// The maximum number of distinct codes, after which further codes are counted as `other`.
    private static let maximumCodeCount = 1000

    mutating func add(_ problem: LocatedProblem) {
        let code = problem.problem.code
        let group = groups[code] != nil || groups.count < Self.maximumCodeCount ? code : "other"
        groups[group, default: CappedList(limit: Self.maximumShownPerCode)].add(problem, reason: code)
    }

    /// The groups of problems, sorted by code.
    var sorted: [(code: String, problems: CappedList<LocatedProblem>)] {
        groups.sorted { $0.key < $1.key }.map { (code: $0.key.string, problems: $0.value) }
    }
}
