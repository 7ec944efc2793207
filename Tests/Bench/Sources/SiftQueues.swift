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
        let limit = JobLimit(jobs: jobs - 1)
        var store = SiftStore(applicationID: nil, comparesEvents: false, limit: limit)
        var output = ScanOutput(capture: "bench")
        let source = Source(capture: "bench", path: "sift-default", store: .siftQueue, index: 0)
        let start = clock()
        let time = try ContinuousClock().measure {
            try store.read(bytes, of: .queue(identifier: "sift-default"), part: 0, from: source, into: &output)
        }
        let processorSeconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
        guard !store.finish().records.isEmpty else { throw CocoaError(.fileReadCorruptFile) }
        print(processorSeconds, time / .seconds(1))
    }
}
