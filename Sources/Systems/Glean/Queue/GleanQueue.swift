import JSONText
import Telemetry

/// The state of the queue of pings, according to the rules of the SDK.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 5 and 11.3.
struct GleanQueue: QueueRules, Equatable {
    /// The number of pings in the queue, without deletion requests.
    let pingCount: Int
    /// The total size of the pings in bytes, or `nil` if there are more than ``maximumSummedPingCount`` pings.
    let byteCount: Int?
    let deletionRequestCount: Int
    /// The version of the SDK that built the pings, or `nil` if it is unknown.
    let sdkVersion: String?

    /// The major and minor version of the SDK, or `nil` if the version is unknown or malformed.
    ///
    /// They determine the limits of the SDK.
    private var parsedSDKVersion: (major: Int, minor: Int)? {
        let parts = (sdkVersion ?? "").split(separator: ".").prefix(2).map { Int($0) }
        guard parts.count == 2, let major = parts[0], let minor = parts[1] else { return nil }
        return (major, minor)
    }

    /// The limits above which the SDK deletes the oldest pings at the next start of the app.
    ///
    /// A limit is `nil` if the SDK has no such limit, or if its version is unknown.
    private var limits: (pingCount: Int?, byteCount: Int?) {
        guard let version = parsedSDKVersion else { return (nil, nil) }
        if version >= (67, 4) { return (500, 50_000_000) }
        if version >= (32, 4) { return (250, 10_000_000) }
        return version >= (32, 2) ? (nil, 10_000_000) : (nil, nil)
    }

    func sentence(at instant: Int64) -> String {
        var words =
            pingCount == 0 ? "no pings pending" : "ready for upload: \(pingCount) ping\(pingCount == 1 ? "" : "s")"
        if let byteCount, pingCount > 0 { words += " of \(byteCount) bytes" }
        if deletionRequestCount > 0 {
            words += pingCount == 0 ? ", but " : ", after "
            words += "\(deletionRequestCount) deletion request\(deletionRequestCount == 1 ? "" : "s")"
        }
        guard let sdkVersion, parsedSDKVersion != nil else { return words }
        words += "; SDK \(sdkVersion)"
        if exceedsLimits {
            return words + " deletes the oldest at its next start, because it keeps no more than " + limitsInWords
        }
        return limits.byteCount == nil ? words + " keeps any number" : words + " keeps no more than " + limitsInWords
    }

    private var exceedsLimits: Bool {
        pingCount > limits.pingCount ?? .max || byteCount ?? 0 > limits.byteCount ?? .max
    }

    private var limitsInWords: String {
        let megabytes = "\((limits.byteCount ?? 0) / 1_000_000) MB"
        return limits.pingCount.map { "\($0) pings and \(megabytes)" } ?? megabytes
    }

    func json(at instant: Int64) -> CanonicalObject {
        var object = CanonicalObject()
        object.set("bytes", integer: byteCount)
        object.set("deletionRequests", integer: deletionRequestCount)
        object.set("isOverFull", boolean: exceedsLimits)
        object.set("limitBytes", integer: limits.byteCount)
        object.set("limitPings", integer: limits.pingCount)
        object.set("pings", integer: pingCount)
        object.set("sdk", string: sdkVersion)
        return object
    }

    func state(at instant: Int64) -> QueueState {
        if exceedsLimits {
            return QueueState(
                .ready, "over-full", "more than the SDK keeps; it deletes the oldest at its next start")
        }
        if pingCount > 0 { return QueueState(.ready, "pings", "pings are pending") }
        if deletionRequestCount > 0 {
            return QueueState(.ready, "deletion-requests", "only deletion requests are pending")
        }
        return QueueState(.empty, "empty", "nothing is pending")
    }

    /// The maximum number of pings whose sizes are added up.
    ///
    /// More pings exceed the ping limit of every SDK version that has such a limit, regardless of their sizes.
    static let maximumSummedPingCount = 500
}
