import Bundle
import Bytes
import Telemetry

/// The sequence numbers of the uploads of one type by one client.
public struct NumberedSequence: Sendable, Equatable {
    /// The system of the client.
    public let system: SystemName
    /// The type of the records in the sequence.
    public let type: String
    /// The id of the client, spelled as it was first added to the `ClientIndex`.
    public let client: String
    /// The runs in chronological order, or no runs if only an expected list contains the sequence.
    public let runs: [SequenceRun]
    /// The comparison with an expected list, or `nil` if there is no list.
    public let comparison: ExpectedComparison?
}

/// The sequence numbers of records, grouped by client and type.
///
/// Each number uses 24 bytes of memory, and about 24 further bytes while its sequence is analyzed.
///
/// ```swift
/// var clients = ClientIndex()
/// var sequences = SequenceIndex(Systems.table)
/// let client = clients.number(of: record.client, system: record.system)
/// sequences.add(.number(7), of: record, client: client)
/// sequences.add(.number(10), of: record, client: client)
/// sequences.forEachSequence(of: clients) { missing += $0.runs.flatMap(\.missing).map(\.numbers) }  // 8...9
/// ```
public struct SequenceIndex: Sendable {
    /// The number of records that belong to no sequence, by reason.
    public struct OmittedCounts: Sendable, Equatable {
        /// The number of records of types that are not numbered.
        public var unnumbered = 0
        /// The number of records of numbered types without a number.
        public var missing = 0
        /// The number of records whose number is not an integer from 0 to 2⁶³ − 1.
        public var invalid = 0
        /// The number of numbered records without a client.
        public var withoutClient = 0
        /// The number of numbered records whose client id is shared by several installations.
        public var sharedClient = 0
    }

    /// A sequence number and the index of the preceding entry of the same sequence.
    private struct Entry {
        let number: Int64
        /// The time in milliseconds since 1970, ``NumberedTime/unknownTime``, or ``SequenceIndex/expected``.
        let milliseconds: Int64
        /// The index of the preceding entry of the same sequence, or no value for the first entry.
        let previous: OptionalUInt32
    }

    private struct Key: Hashable {
        let client: UInt32
        let type: UInt32
    }

    private struct Chain {
        let key: Key
        /// The index, in `entries`, of the last entry of the sequence, or no value if there is no entry.
        var last = OptionalUInt32(nil)
        /// The number of entries that were added from records rather than from an expected list.
        var recordCount: UInt32 = 0
    }

    /// The value of `Entry.milliseconds` that marks a number in an expected list.
    private static let expected = Int64.max

    private let systems: SystemTable
    private var types = NumberedValues<CapturedText>()
    private var entries = ChunkedArray<Entry>()
    private var chains = ChunkedArray<Chain>()
    private var chainIndices: [Key: UInt32] = [:]
    /// The number of records that belong to no sequence.
    public private(set) var omitted = OmittedCounts()
    private var isCompared = false

    /// Creates an empty index for records of the given systems.
    public init(_ systems: SystemTable) {
        self.systems = systems
    }

    /// Adds the sequence number of a record, or counts the record in ``omitted`` if it belongs to no sequence.
    ///
    /// `client` is the number of the client in a `ClientIndex`.
    public mutating func add(_ number: SequenceNumber, of record: borrowing RecordSummary, client: Int) {
        switch number {
        case .unnumbered: omitted.unnumbered += 1
        case .missing: omitted.missing += 1
        case .invalid: omitted.invalid += 1
        case .number(let number):
            guard let id = record.client else { return omitted.withoutClient += 1 }
            if let shared = systems[record.system]?.sequence?.sharedClients, !shared.isEmpty,
                shared.contains(ClientID(id))
            {
                return omitted.sharedClient += 1
            }
            append(number, record.time?.milliseconds ?? NumberedTime.unknownTime, client: client, type: record.type)
        }
    }

    /// Adds a number of an expected list.
    ///
    /// `client` is the number of the client in a `ClientIndex`.
    public mutating func add(expected number: Int64, client: Int, type: String) {
        append(number, Self.expected, client: client, type: type)
    }

    /// Causes all sequences to be compared with the expected list, even if the list is empty.
    public mutating func compareWithExpectedNumbers() { isCompared = true }

    private mutating func append(_ number: Int64, _ milliseconds: Int64, client: Int, type: String) {
        let key = Key(client: UInt32(client), type: types.number(of: CapturedText(type)))
        let index: Int
        if let known = chainIndices[key] {
            index = Int(known)
        } else {
            index = chains.count
            chainIndices[key] = UInt32(index)
            chains.append(Chain(key: key))
        }
        let entry = UInt32(entries.count)
        entries.append(Entry(number: number, milliseconds: milliseconds, previous: chains[index].last))
        chains[index].last = OptionalUInt32(entry)
        if milliseconds != Self.expected { chains[index].recordCount += 1 }
    }

    /// Calls `body` with each sequence, sorted by system, client and type.
    ///
    /// `clients` is the index that assigned the numbers of the clients.
    public func forEachSequence(of clients: ClientIndex, _ body: (NumberedSequence) throws -> Void) rethrows {
        var ranks = [UInt32](repeating: 0, count: clients.count)
        for (rank, client) in clients.sortedNumbers().enumerated() { ranks[Int(client)] = UInt32(rank) }
        let sorted = (0..<UInt32(chains.count)).sorted { left, right in
            let (one, other) = (chains[Int(left)].key, chains[Int(right)].key)
            guard one.client == other.client else { return ranks[Int(one.client)] < ranks[Int(other.client)] }
            return types[one.type] < types[other.type]
        }
        for index in sorted { try body(sequence(at: Int(index), clients)) }
    }

    private func sequence(at index: Int, _ clients: ClientIndex) -> NumberedSequence {
        let chain = chains[index]
        var records: [NumberedTime] = []
        records.reserveCapacity(Int(chain.recordCount))
        var expected: [Int64] = []
        var next = chain.last.value
        while let position = next {
            let entry = entries[Int(position)]
            if entry.milliseconds == Self.expected {
                expected.append(entry.number)
            } else {
                records.append(NumberedTime(number: entry.number, milliseconds: entry.milliseconds))
            }
            next = entry.previous.value
        }
        let client = Int(chain.key.client)
        let system = clients.system(ofClient: client)
        let comparison = isCompared ? ExpectedComparison(records.map(\.number), expected: expected) : nil
        // The chain is traversed from the last record to the first. Reversing the records restores the order of the
        // input, which is mostly chronological and therefore fast to sort.
        records.reverse()
        let runs = SequenceRun.runs(of: &records, startingWith: systems[system]?.sequence?.start ?? 0...0)
        return NumberedSequence(
            system: system, type: types[chain.key.type].string, client: clients.id(ofClient: client) ?? "", runs: runs,
            comparison: comparison)
    }
}

/// The comparison of the sequence numbers in the input with an expected list, such as the list of a server.
///
/// Runs are not distinguished, because the list does not contain times.
public struct ExpectedComparison: Sendable, Equatable {
    /// The ranges of numbers that the input contains and the list lacks.
    public private(set) var filled: [ClosedRange<Int64>] = []
    /// The ranges of numbers that neither the input nor the list contains, although both lower and higher numbers
    /// occur.
    public private(set) var open: [ClosedRange<Int64>] = []
    /// The ranges of numbers that only the list contains.
    public private(set) var expectedOnly: [ClosedRange<Int64>] = []
    /// The number of distinct numbers that both the input and the list contain.
    public private(set) var commonCount = 0
    /// The number of rows of the list that repeat an earlier row.
    public let repeatedRowCount: Int

    init(_ present: [Int64], expected: [Int64]) {
        let (present, rows) = (present.sorted(), expected.sorted())
        var (index, row) = (0, 0)
        var distinctRowCount = 0
        var last: Int64?
        while index < present.count || row < rows.count {
            let number = min(index < present.count ? present[index] : .max, row < rows.count ? rows[row] : .max)
            let (indexBefore, rowBefore) = (index, row)
            while index < present.count, present[index] == number { index += 1 }
            while row < rows.count, rows[row] == number { row += 1 }
            if row > rowBefore { distinctRowCount += 1 }
            if let last, number > last + 1 { open.append(last + 1...number - 1) }
            last = number
            switch (index > indexBefore, row > rowBefore) {
            case (true, true): commonCount += 1
            case (true, false): Self.add(number, to: &filled)
            case (false, _): Self.add(number, to: &expectedOnly)
            }
        }
        repeatedRowCount = rows.count - distinctRowCount
    }

    private static func add(_ number: Int64, to ranges: inout [ClosedRange<Int64>]) {
        if let range = ranges.last, range.upperBound + 1 == number {
            ranges[ranges.count - 1] = range.lowerBound...number
        } else {
            ranges.append(number...number)
        }
    }
}
