import Parallel
import Testing

/// Work that is done in parallel and taken in order.
@Suite struct OrderedTasksTests {
    @Test("results are taken in order from a queue that fills and empties")
    func orderedTasks() async throws {
        var tasks = OrderedTasks<Int>(limit: JobLimit(jobs: 2))
        var taken: [Int] = []
        for number in 0..<300 {
            tasks.add { number }
            #expect(tasks.count <= 8)
            while tasks.count > 7 || (number % 50 == 49 && tasks.count > 0) {
                if let result = try await tasks.next() { taken.append(result) }
            }
        }
        #expect(try await tasks.next() == nil)
        #expect(taken == Array(0..<300))
    }
}
