import Foundation
import Parallel
import Telemetry

/// Speed of making list requests of a queue archive, on one core and on two.
enum SiftQueues {
    static func measure(path: String) throws {
        let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        var events = 0
        let seconds = (0..<15).map { _ in
            processorTime { events = read(bytes) }
        }
        let rate = Double(bytes.count) / (seconds.min() ?? .infinity)
        print("\(bytes.count) bytes, \(events) events")
        let limit = JobLimit(jobs: 2)
        let clock = ContinuousClock()
        let times = (0..<15).map { _ in
            clock.measure { _ = read(bytes) { limit.spread($0, $1) } }
        }
        let together = Double(bytes.count) / ((times.min() ?? .seconds(1)) / .seconds(1))
        print(
            "queue to list requests \(Bench.megabytes(rate)) MB/s of processor time, "
                + "\(Bench.megabytes(together)) MB/s on two cores")
    }

    private static func read(_ bytes: [UInt8], spread: @escaping Spread = oneAfterAnother) -> Int {
        var store = SiftStore(capture: "bench", applicationID: nil, spread: spread)
        _ = store.read(bytes, of: .queue(identifier: "sift-default"), at: "sift-default")
        return store.eventCount
    }

    /// Seconds that a piece of work takes a processor, whatever else the machine does.
    private static func processorTime(_ body: () -> Void) -> Double {
        let start = clock()
        body()
        return Double(clock() - start) / Double(CLOCKS_PER_SEC)
    }
}
