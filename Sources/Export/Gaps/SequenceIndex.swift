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
    /// The last number that the app used according to its own counter, or `nil` if no counter was read.
    public internal(set) var counter: Int64?

    /// The numbers after the highest number of the records, up to the counter of the app, or `nil` if there are none.
    ///
    /// They are unknown if the sequence restarts, because the counter may belong to any of the runs.
    public var numbersAtEnd: ClosedRange<Int64>? {
        guard runs.count == 1, let counter, let newest = runs[0].present.last?.upperBound, newest < counter else {
            return nil
        }
        return newest + 1...counter
    }
}

/// The sequence numbers of records, grouped by client and type.
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

    private struct SequenceKey: Hashable {
        /// The number of the client in a `ClientIndex`.
        let client: Int
        let type: CapturedText
    }

    private struct SequenceNumbers {
        /// The numbers of records, in the order of the input.
        var records: [NumberedTime] = []
        /// The numbers of an expected list.
        var expected: [Int64] = []
    }

    private let systems: SystemTable
    private var sequences: [SequenceKey: SequenceNumbers] = [:]
    private var counters: [SequenceKey: Int64] = [:]
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
            let time = record.time?.milliseconds ?? NumberedTime.unknownTime
            let key = SequenceKey(client: client, type: CapturedText(record.type))
            sequences[key, default: .init()].records.append(NumberedTime(number: number, milliseconds: time))
        }
    }

    /// Adds a number of an expected list.
    ///
    /// `client` is the number of the client in a `ClientIndex`.
    public mutating func add(expected number: Int64, client: Int, type: String) {
        sequences[SequenceKey(client: client, type: CapturedText(type)), default: .init()].expected.append(number)
    }

    /// Adds the last number that an app used according to its own counter, of which the highest counts.
    ///
    /// Sequences without records are not affected.
    public mutating func add(counter number: Int64, client: Int, type: String) {
        let key = SequenceKey(client: client, type: CapturedText(type))
        counters[key] = max(counters[key] ?? number, number)
    }

    /// Causes all sequences to be compared with the expected list, even if the list is empty.
    public mutating func compareWithExpectedNumbers() { isCompared = true }

    /// Calls `body` with each sequence, sorted by system, client and type.
    ///
    /// `clients` is the index that assigned the numbers of the clients.
    public func forEachSequence(of clients: ClientIndex, _ body: (NumberedSequence) throws -> Void) rethrows {
        var ranks = [Int](repeating: 0, count: clients.count)
        for (rank, client) in clients.sortedNumbers().enumerated() { ranks[Int(client)] = rank }
        let sorted = sequences.keys.sorted { (ranks[$0.client], $0.type) < (ranks[$1.client], $1.type) }
        for key in sorted {
            let numbers = sequences[key, default: .init()]
            let system = clients.system(ofClient: key.client)
            try body(
                NumberedSequence(
                    system: system, type: key.type.string, client: clients.id(ofClient: key.client) ?? "",
                    runs: SequenceRun.runs(
                        of: numbers.records, startingWith: systems[system]?.sequence?.start ?? 0...0),
                    comparison: isCompared
                        ? ExpectedComparison(numbers.records.map(\.number), expected: numbers.expected) : nil,
                    counter: counters[key]))
        }
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
