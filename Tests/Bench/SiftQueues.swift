import Foundation
import Telemetry

/// Speed of making list requests of a queue archive, on one core.
enum SiftQueues {
    static func measure(path: String) throws {
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        var events = 0
        let seconds = (0..<15).map { _ in
            processorTime {
                var store = SiftStore(capture: "bench", applicationID: nil)
                _ = store.read(bytes, of: .queue(identifier: "sift-default"), at: "sift-default")
                events = store.eventCount
            }
        }
        let rate = Double(bytes.count) / (seconds.min() ?? .infinity)
        print("\(bytes.count) bytes, \(events) events")
        print("queue to list requests \(Bench.megabytes(rate)) MB/s of processor time")
    }

    /// Seconds that a piece of work takes a processor, whatever else the machine does.
    private static func processorTime(_ body: () -> Void) -> Double {
        let start = clock()
        body()
        return Double(clock() - start) / Double(CLOCKS_PER_SEC)
    }
}
