import Testing

@testable import Export

/// Tests of counts whose size is limited.
@Suite struct CountingTests {
    private func counts(_ keys: String, limit: Int) -> BoundedCounts<Character> {
        var counts = BoundedCounts<Character>(keyLimit: limit)
        for key in keys { counts.add(key) }
        return counts
    }

    @Test func keysBeyondTheLimitAreCountedTogether() {
        let counts = counts("abacad", limit: 2)
        #expect(counts.keys == ["a", "b"])
        #expect(counts.entries.map(\.count) == [3, 1])
        #expect(counts.otherCount == 2)
        #expect(counts.total == 6)
        #expect(counts["a"] == 3 && counts["d"] == 0)
    }

    @Test func countsCanBeAdded() {
        var sum = counts("ab", limit: 3)
        #expect(sum.add(counts("cbd", limit: 3)) == [2, 1, nil])
        #expect(sum.keys == ["a", "b", "c"])
        #expect(sum.entries.map(\.count) == [1, 2, 1])
        #expect(sum.otherCount == 1)
    }

    @Test func largestCountsComeFirst() {
        #expect(counts("abbcca", limit: 9).largestFirst.map(\.key) == ["a", "b", "c"])
        #expect(counts("abbc", limit: 9).largestFirst.map(\.key) == ["b", "a", "c"])
    }

    @Test func hugeCountsDoNotOverflow() {
        var counts = BoundedCounts<String>(keyLimit: 1)
        counts.add("a", .max)
        counts.add("a", 1)
        counts.add("b", .max)
        counts.add("c", 5)
        #expect(counts["a"] == .max && counts.otherCount == .max && counts.total == .max)
    }

    private func client(_ number: Int, records: Int) -> ReportClient {
        ReportClient(
            system: "s", id: "\(number)", key: ClientKey(system: "s", client: "\(number)"), apps: nil,
            recordCount: records, uploadableCount: records, eventCount: 0, firstTime: nil, lastTime: nil)
    }

    @Test func largestClientsAreKept() {
        var clients = LargestClients()
        for number in 0..<1000 { clients.add(client(number, records: (number * 7919) % 1000)) }
        #expect(clients.count == 1000)
        #expect(clients.recordCount == 999 * 500)
        #expect(clients.maxUploadableCount == 999)
        #expect(clients.largest.values.map(\.recordCount) == Array((900..<1000).reversed()))
    }

    @Test func firstOccurrencesAreExamples() {
        var codes = CodeCounts()
        for number in 0..<9 {
            var later = CodeCounts()
            later.add("x", CodeExample(capture: "c", path: "\(number)", offset: nil, text: ""))
            codes.add(later)
        }
        #expect(codes.counts["x"] == 9)
        #expect(codes.examples["x"]?.map(\.path) == ["0", "1", "2", "3", "4"])
    }

    @Test(arguments: [(0, 0, 0), (1, 1, 1), (40, 40, 1), (41, 41, 2), (30, 101, 2), (80, 250, 3), (400, 400, 10)])
    func nights(maximumOfType: Int, maximumOfClient: Int, nights: Int) {
        var tally = ReportTally()
        let key = ClientKey(system: "s", client: "1")
        tally.uploadCounts = [key.key(forType: "a"): Int32(maximumOfType)]
        tally.clients.add(client(1, records: maximumOfClient))
        #expect(UploadNights(tally).count == nights)
    }
}
