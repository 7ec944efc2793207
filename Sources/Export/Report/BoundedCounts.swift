import Bytes

/// The numbers of occurrences of a limited number of keys.
///
/// A capture can contain any number of keys. Therefore, keys beyond the limit are counted together. Keys are stored in
/// the order of their first occurrence, so that equal input has equal results.
struct BoundedCounts<Key: Hashable & Sendable>: Sendable {
    private(set) var entries: [(key: Key, count: Int)] = []
    /// The total count of the keys beyond the limit.
    private(set) var otherCount = 0
    private var indices: [Key: Int] = [:]
    private let keyLimit: Int

    init(keyLimit: Int) {
        self.keyLimit = keyLimit
    }

    /// Returns the count of a key, or 0 if the key is not counted separately.
    subscript(key: Key) -> Int { index(of: key).map { entries[$0].count } ?? 0 }

    var keys: [Key] { entries.map(\.key) }

    var total: Int { entries.reduce(otherCount) { $0.addingSaturated($1.count) } }

    var isEmpty: Bool { entries.isEmpty && otherCount == 0 }

    /// Adds `count` to the count of `key`.
    ///
    /// Returns the index of the key in ``entries``, or `nil` if the key is not counted separately.
    @discardableResult
    mutating func add(_ key: Key, _ count: Int = 1) -> Int? {
        if let index = indices[key] {
            entries[index].count = entries[index].count.addingSaturated(count)
            return index
        }
        guard entries.count < keyLimit else {
            otherCount = otherCount.addingSaturated(count)
            return nil
        }
        indices[key] = entries.count
        entries.append((key, count))
        return entries.count - 1
    }

    /// Adds the counts in `later`.
    ///
    /// Returns the new index of each entry of `later`, or `nil` for an entry that is not counted separately.
    @discardableResult
    mutating func add(_ later: BoundedCounts) -> [Int?] {
        let indices = later.entries.map { add($0.key, $0.count) }
        otherCount = otherCount.addingSaturated(later.otherCount)
        return indices
    }

    /// Returns the index of a key in ``entries``, or `nil` if the key is not counted separately.
    func index(of key: Key) -> Int? { indices[key] }

    /// The keys and their counts, sorted by count in descending order.
    var largestFirst: [(key: Key, count: Int)] {
        entries.enumerated()
            .sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
            .map(\.element)
    }
}

extension BoundedCounts<CapturedText> {
    /// Returns the count of a text, or 0 if the text is not counted separately.
    subscript(text: String) -> Int { self[CapturedText(text)] }

    /// Adds `count` to the count of `text`, like `add(_:_:)` for keys.
    @discardableResult
    mutating func add(_ text: String, _ count: Int = 1) -> Int? { add(CapturedText(text), count) }
}

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

/// The location and the description of an item, as an example of the code of the item.
struct CodeExample: Sendable, Equatable {
    let capture: String
    let path: String
    let offset: Int?
    /// The description of the item.
    let text: String
}

/// A row of the table of gaps.
struct ReportGap: Sendable, Equatable {
    let client: String
    let system: String
    let type: String
    let first: Int
    let last: Int
    let count: Int
    let timeBefore: String?
    let timeAfter: String?
}

/// The numbers of gaps, repetitions and restarts of sequence numbers, and the largest gaps.
struct GapCounts: Sendable {

    private(set) var gapCount = 0
    /// The number of missing sequence numbers.
    private(set) var missingCount = 0
    /// The number of additional records with a sequence number that another record has.
    private(set) var repeatedCount = 0
    private(set) var restartCount = 0
    /// The gaps with the most missing numbers.
    private(set) var largest = LargestValues<ReportGap>(limit: maxRowCount)

    /// The maximum number of gaps with separate rows.
    static let maxRowCount = 40

    mutating func add(_ gap: ReportGap) {
        gapCount += 1
        missingCount = missingCount.addingSaturated(gap.count)
        largest.add(gap, size: gap.count)
    }

    mutating func addRestart() { restartCount += 1 }

    mutating func addRepetition(extraCount: Int) { repeatedCount = repeatedCount.addingSaturated(extraCount) }

    mutating func add(_ later: GapCounts) {
        gapCount += later.gapCount
        missingCount = missingCount.addingSaturated(later.missingCount)
        repeatedCount = repeatedCount.addingSaturated(later.repeatedCount)
        restartCount += later.restartCount
        largest.add(later.largest)
    }
}
