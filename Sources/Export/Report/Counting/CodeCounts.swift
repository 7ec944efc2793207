import Bytes

/// The number of occurrences of each code, with some examples.
struct CodeCounts: Sendable {
    private(set) var counts = BoundedCounts<CapturedText>(keyLimit: 300)
    private(set) var examples: [CapturedText: [CodeExample]] = [:]

    static let maxExamples = 5

    init() {}

    /// Creates counts without examples, which would reveal locations in the input.
    init(withoutExamples counts: [CapturedText: Int]) {
        for (code, count) in counts.sorted(by: { $0.key < $1.key }) { self.counts.add(code, count) }
    }

    mutating func add(_ code: String, _ example: CodeExample) {
        counts.add(code)
        addExample(CapturedText(code), example)
    }

    private mutating func addExample(_ code: CapturedText, _ example: CodeExample) {
        guard counts[code] > 0, examples[code, default: []].count < Self.maxExamples else { return }
        examples[code, default: []].append(example)
    }

    mutating func removeExamples() { examples = [:] }

    mutating func add(_ later: CodeCounts) {
        counts.add(later.counts)
        for code in later.counts.keys { for example in later.examples[code] ?? [] { addExample(code, example) } }
    }
}
