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
