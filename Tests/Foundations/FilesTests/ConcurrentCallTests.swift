import Files
import Synchronization
import Testing

/// Tests for calls that run concurrently in the free slots of a limit.
@Suite struct ConcurrentCallTests {
    @Test(arguments: [1, 2, 7], [0, 1, 2, 100])
    func eachNumberIsProcessedOnce(jobs: Int, count: Int) {
        let numbers = Mutex<[Int]>([])
        JobLimit(jobs: jobs).concurrentPerform(count) { number in numbers.withLock { $0.append(number) } }
        #expect(numbers.withLock { $0.sorted() } == Array(0..<count))
    }

    @Test func slotsAreReleased() async throws {
        let limit = JobLimit(jobs: 3)
        for _ in 0..<10 { limit.concurrentPerform(50) { _ in } }
        // If slots were lost, the second of these tasks would never start.
        var tasks = OrderedTasks<Int>(limit: limit)
        for number in 0..<3 { tasks.add { number } }
        for number in 0..<3 { #expect(try await tasks.next() == number) }
    }

    @Test func nestedCallsFinish() {
        let limit = JobLimit(jobs: 4)
        let count = Atomic(0)
        limit.concurrentPerform(8) { _ in
            limit.concurrentPerform(8) { _ in count.wrappingAdd(1, ordering: .relaxed) }
        }
        #expect(count.load(ordering: .relaxed) == 64)
    }
}
