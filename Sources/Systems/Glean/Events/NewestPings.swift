import Bytes
import Synchronization
import Telemetry

/// The newest pings of a data directory, from which pending events copy the client information.
///
/// Only the positions of the files are stored, because a ping can be large.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", section 8.4.
struct NewestPings: Sendable {
    private struct Candidate: Sendable {
        let position: GleanDirectory.FilePosition
        let time: Timestamp
    }

    private var newestWithClient: Candidate?
    private var newestByName: [CapturedText: Candidate] = [:]

    /// Adds `ping` if it has a time, and replaces a ping that has the same or an earlier time.
    mutating func add(_ ping: Record, at position: GleanDirectory.FilePosition) {
        guard let time = ping.time else { return }
        func isNewer(than other: Candidate?) -> Bool { other.map { $0.time <= time } ?? true }
        let candidate = Candidate(position: position, time: time)
        if let client = ping.client, !GleanName.isPlaceholder(client), isNewer(than: newestWithClient) {
            newestWithClient = candidate
        }
        if isNewer(than: newestByName[ping.type]) { newestByName[ping.type] = candidate }
    }

    /// Returns the position of the stored ping that provides the client information for pending events of the ping
    /// `name`.
    ///
    /// This is the newest ping with the same name. For the built-in `events` ping, which always has a client id, the
    /// newest ping of any name that has a client id is used. Returns `nil` if there is no such ping.
    func position(forEventsOf name: String) -> GleanDirectory.FilePosition? {
        (name == GleanName.events ? newestWithClient : newestByName[name])?.position
    }
}

/// The newest pings of a directory, which all scans of the directory share.
final class SharedNewestPings: Sendable {
    private let cachedPings = Mutex<NewestPings?>(nil)

    /// Returns the newest pings.
    ///
    /// The first call determines them with `find`, while calls on other threads wait.
    func newestPings(_ find: () -> NewestPings) -> NewestPings {
        cachedPings.withLock { cachedPings in
            let newestPings = cachedPings ?? find()
            cachedPings = newestPings
            return newestPings
        }
    }
}
