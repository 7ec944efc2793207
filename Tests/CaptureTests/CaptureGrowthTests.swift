import Files
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import Capture

/// Tests that the work for a capture is proportional to the number of its stores and problems.
@Suite struct CaptureGrowthTests {
    /// A store that counts how often its path is read.
    private struct CountingStore: Store {
        final class Counter: Sendable {
            let count = Mutex(0)
        }

        let storedPath: String
        let counter: Counter

        var path: String {
            counter.count.withLock { $0 += 1 }
            return storedPath
        }
        let system: SystemName? = nil
        let kind = StoreKind("counting")
        let fileCount = 1
        let isReadByOneJob = false
    }

    private func found(_ count: Int, inContainers containers: Int) -> ([FoundStore], CountingStore.Counter) {
        let counter = CountingStore.Counter()
        let stores = [FoundStore](
            (0..<count).map { CountingStore(storedPath: "\($0 % containers)/\($0)", counter: counter) },
            findingContainers: { Container(path: "\($0.prefix { $0 != "/" })", identifier: nil) })
        counter.count.withLock { $0 = 0 }
        return (stores, counter)
    }

    @Test("Looking up the neighbors of all stores grows with the number of stores", arguments: [1, 10])
    func neighbors(containers: Int) {
        expectLinearGrowth(of: "stores of \(containers) containers", from: 200 * containers) { count in
            let (stores, counter) = found(count, inContainers: containers)
            var isRight = true
            for (index, store) in stores.enumerated() {
                isRight = isRight && store.neighbors.stores.count == count / containers
                isRight = isRight && store.neighbors.store(at: "\(index % containers)/none") == nil
            }
            #expect(isRight)
            return counter.count.withLock { $0 }
        }
    }

    @Test("A fact about a container is computed once, and separately for each container and name")
    func facts() {
        let (stores, _) = found(40, inContainers: 4)
        var computed: [String] = []
        for store in stores {
            for name in ["a", "b"] {
                let path: String? = name == "b" ? nil : store.container.path
                let value: String? = store.neighbors.fact(named: name) {
                    computed.append(name)
                    return path
                }
                #expect(value == path)
            }
        }
        #expect(computed.sorted() == Array(repeating: "a", count: 4) + Array(repeating: "b", count: 4))
    }

    @Test("A sparse file is reported instead of being read for hours", arguments: ["__leanplum.sqlite", "x.har"])
    func sparseFiles(name: String) async throws {
        let folder = try CaptureFolder()
        try folder.put("\(corePings)/-t-1.json", CaptureFolder.ping(1))
        try folder.putSparse(name, size: 8 << 40)
        let read = try await ReadCapture(folder.open())
        #expect(read.records.count == 1)
        #expect(read.problems.contains { $0.path.hasSuffix(name) && $0.problem.text.contains("sparse file") })
        #expect(throws: FileError.self) { _ = try InputFile(path: "\(folder.path)/\(name)") }
    }
}
