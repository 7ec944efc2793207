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

    /// Whether the queue is ready for upload, and why.
    var sentence: String { queue.sentence(at: instant) }

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
        object.set("reason", string: sentence)
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
