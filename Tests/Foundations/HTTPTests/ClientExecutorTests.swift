import CLibrary
import Testing

@testable import HTTP

/// Tests tasks that run on the thread of a client.
@Suite struct ClientExecutorTests {
    @Test func tasksShareTheThread() async throws {
        let client = try HTTPClient(HTTPSettings())
        let executor = client.executor
        let threads = await withTaskGroup(of: pthread_t.self, returning: [pthread_t].self) { group in
            for _ in 0..<100 {
                group.addTask(executorPreference: executor) {
                    await Task.yield()
                    return pthread_self()
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await client.close()
        #expect(threads.count == 100)
        #expect(Set(threads).count == 1)
    }

    /// A task must not wait for a client that has ended.
    @Test func tasksRunAfterTheClientEnded() async throws {
        let client = try HTTPClient(HTTPSettings())
        let executor = client.executor
        await client.close()
        let value = await Task(executorPreference: executor) { 7 }.value
        #expect(value == 7)
    }

    @Test func closingFromTheThread() async throws {
        let client = try HTTPClient(HTTPSettings())
        let executor = client.executor
        let value = await Task(executorPreference: executor) {
            await client.close()
            return 7
        }.value
        #expect(value == 7)
    }
}
