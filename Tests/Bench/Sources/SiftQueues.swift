import Files
import Foundation
import Sift
import Telemetry

/// Measures making list requests from a queue archive once, as a command does.
enum SiftQueues {
    /// Prints the processor time and the elapsed time in seconds.
    static func measure(path: String, jobs: Int) throws {
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        // One place is this thread's own.
        let others = JobLimit(jobs: jobs - 1)
        let together: ParallelFor = { others.concurrentPerform($0, $1) }
        let parallelFor = jobs > 1 ? together : sequentialFor
        var store = SiftStore(capture: "bench", applicationID: nil, comparesEvents: false, parallelFor: parallelFor)
        var output = ScanOutput(capture: "bench", path: "sift-default")
        let start = clock()
        let time = ContinuousClock().measure {
            store.read(bytes, of: .queue(identifier: "sift-default"), part: 0, into: &output)
        }
        let processorSeconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
        guard !store.finish().records.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
        print(processorSeconds, time / .seconds(1))
    }
}
