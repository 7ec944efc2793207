import Capture
import Telemetry

/// How many problems there are of each code, and the first few of each.
struct ProblemsByCode {
    private var groups: [String: FirstFew<PlacedProblem>] = [:]

    /// How many of each code are named.
    static let shownPerCode = 3
    /// How many codes are told apart; those of a bundle can be any number. Others count as `other`.
    private static let maximumCodeCount = 1000

    /// Adds a problem.
    mutating func add(_ problem: PlacedProblem) {
        let code = problem.problem.code
        let group = groups[code] != nil || groups.count < Self.maximumCodeCount ? code : "other"
        groups[group, default: FirstFew(limit: Self.shownPerCode)].add(problem, reason: code)
    }

    /// The groups by their codes.
    var sorted: [(code: String, problems: FirstFew<PlacedProblem>)] {
        groups.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { (code: $0.key, problems: $0.value) }
    }
}
