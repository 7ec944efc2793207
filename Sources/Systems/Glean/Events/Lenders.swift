import Synchronization
import Telemetry

/// The pings of a data directory that lend what is known of their client: the newest of all that name one, and the newest of
/// each name. Of each only its place is kept, for a ping may be large.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.4.
struct Lenders: Sendable {
    private struct Lender: Sendable {
        let place: GleanDirectory.Place
        let time: Timestamp
    }

    private var ofAnyName: Lender?
    private var byName: [String: Lender] = [:]

    /// Considers a ping; of two at one instant the later one in order lends.
    mutating func add(_ ping: Record, at place: GleanDirectory.Place) {
        guard let time = ping.time else { return }
        func isNewer(than other: Lender?) -> Bool { other.map { $0.time <= time } ?? true }
        let lender = Lender(place: place, time: time)
        if let client = ping.client, !GleanName.isPlaceholder(client), isNewer(than: ofAnyName) { ofAnyName = lender }
        if isNewer(than: byName[ping.type]) { byName[ping.type] = lender }
    }

    /// The ping that lends to events of a ping of a name: to those of the built-in ping, which always has a client, any one
    /// that names one.
    func lender(to name: String) -> GleanDirectory.Place? {
        (name == GleanName.events ? ofAnyName : byName[name])?.place
    }
}

/// The lenders of a directory, looked for once however many files of events there are.
///
/// A class, because all scans of the directory share it.
final class SharedLenders: Sendable {
    private let known = Mutex<Lenders?>(nil)

    /// The lenders.
    /// - Parameter find: looks for them; others wait meanwhile.
    func lenders(_ find: () -> Lenders) -> Lenders {
        known.withLock { known in
            let lenders = known ?? find()
            known = lenders
            return lenders
        }
    }
}
