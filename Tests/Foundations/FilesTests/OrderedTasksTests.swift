import Files
import Testing

@Suite struct OrderedTasksTests {
    @Test("results are returned in order while the queue fills and empties")
    func orderedTasks() async throws {
        var tasks = OrderedTasks<Int>(limit: JobLimit(jobs: 2))
        var results: [Int] = []
        for number in 0..<300 {
            tasks.add { number }
            #expect(tasks.count <= 8)
            while tasks.count > 7 || (number % 50 == 49 && tasks.count > 0) {
                if let result = try await tasks.next() { results.append(result) }
            }
        }
        #expect(try await tasks.next() == nil)
        #expect(results == Array(0..<300))
    }
}
