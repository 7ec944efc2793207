import JSONText
import Telemetry

/// A queue as its app's own rules see it at an instant.
struct QueueState {
    private let queue: SiftQueue
    private let instant: Int64

    init(_ queue: SiftQueue, at instant: Int64) {
        self.queue = queue
        self.instant = instant
    }

    /// Whether the queue is ready for upload, and why, and whether its events repeat themselves.
    var sentence: String {
        let readiness = queue.sentence(at: instant)
        guard let repetitions = queue.repetitions, repetitions > 0 else { return readiness }
        return "\(readiness); \(repetitions) \(repetitions == 1 ? "is" : "are") the one before but for the time"
    }

    var json: CanonicalObject {
        var object = CanonicalObject()
        object.set("acceptsEqualEvent", string: queue.acceptsEqualEvent.flatMap(Self.text))
        object.set("at", string: Self.text(of: instant))
        object.set("identifier", string: queue.identifier)
        object.set("lastAppend", string: queue.era == .current ? nil : Self.text(of: queue.last))
        object.set("lastEvent", string: queue.lastEvent.flatMap(Self.text))
        object.set("lastUpload", string: queue.era == .current ? Self.text(of: queue.last) : nil)
        object.set("pending", integer: queue.pending)
        if let readiness = queue.readiness(at: instant) {
            object.set("ready", boolean: readiness.isReady)
        } else {
            object.set("ready", string: nil)
        }
        object.set("reason", string: queue.sentence(at: instant))
        if let repetitions = queue.repetitions { object.set("repetitions", integer: repetitions) }
        return object
    }

    /// Nil for 0, which stands for never, and out of the range of RFC 3339.
    private static func text(of instant: Int64) -> String? {
        instant == 0 ? nil : Timestamp(milliseconds: instant)?.description
    }
}

extension SiftCounts {
    /// The counts by what reports call them.
    var byName: [String: Int] {
        ["absorbed": absorbed, "emitted": emitted, "lost": lost, "pending": pending, "skipped": skipped]
    }
}
