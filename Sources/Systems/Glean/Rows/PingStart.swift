import JSONText
import Telemetry

/// The start of the time span of a ping, from which the times of its events are counted.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 2 and 8.1.
struct PingStart {
    private let milliseconds: Int64
    /// The number of units per millisecond in the timestamps of events.
    private let unitsPerMillisecond: Int64

    /// Reads the start of a ping, or returns `nil` if it is missing, invalid or less precise than a minute.
    init?(_ document: JSONDocument) {
        guard let info = document.value(of: GleanKeys.pingInfo, in: document.root),
            let text = document.value(of: GleanKeys.startTime, .string, in: info),
            PingTime.hasMinutes(document.bytes(of: text)),
            let time = PingTime.timestamp(from: document.bytes(of: text))
        else { return nil }
        milliseconds = time.milliseconds
        unitsPerMillisecond = Self.hasNanoseconds(document) ? 1_000_000 : 1
    }

    /// Returns the time basis of an event that occurred `elapsed` units after the start of the ping.
    ///
    /// Returns `nil` if `elapsed` is not an integer or is negative, or if the resulting time is not plausible.
    func basis(elapsed: Cell) -> TimeBasis? {
        guard case .integer(let elapsed) = elapsed, elapsed >= 0 else { return nil }
        return TimeBasis(
            .integer(milliseconds), .pingStart, elapsed: .integer(elapsed / unitsPerMillisecond))
    }

    /// Returns whether the timestamps of the events are in nanoseconds.
    private static func hasNanoseconds(_ document: JSONDocument) -> Bool {
        guard let client = document.value(of: GleanKeys.clientInfo, in: document.root),
            document.text(GleanKeys.os, in: client) == "iOS", let major = GleanSDKVersion.major(in: document)
        else { return false }
        return major < GleanSDKVersion.firstWithMilliseconds
    }
}
