import JSONText
import Telemetry

/// The state of the queue of pings, according to the rules of the SDK.
///
/// Source: "Mozilla Glean SDK on iOS: on-disk stores, normalized pings, upload", sections 5 and 11.3.
struct GleanQueue: QueueRules, Equatable {
    /// The number of pings in the queue, without deletion requests.
    let pings: Int
    /// The total size of the pings in bytes, or `nil` if there are more than ``maximumSummedPings`` pings.
    let bytes: Int?
    let deletionRequests: Int
    /// The version of the SDK that built the pings, or `nil` if it is unknown.
    let sdk: String?

    /// The major and minor version of the SDK, which determine its limits.
    private var version: (major: Int, minor: Int)? {
        let parts = (sdk ?? "").split(separator: ".").prefix(2).map { Int($0) }
        guard parts.count == 2, let major = parts[0], let minor = parts[1] else { return nil }
        return (major, minor)
    }

    /// The limits above which the SDK deletes the oldest pings at the next start of the app.
    private var limits: (pings: Int?, bytes: Int?) {
        guard let version else { return (nil, nil) }
        if version >= (67, 4) { return (500, 50_000_000) }
        if version >= (32, 4) { return (250, 10_000_000) }
        return version >= (32, 2) ? (nil, 10_000_000) : (nil, nil)
    }

    func sentence(at instant: Int64) -> String {
        var words = pings == 0 ? "no pings pending" : "ready for upload: \(pings) ping\(pings == 1 ? "" : "s")"
        if let bytes, pings > 0 { words += " of \(bytes) bytes" }
        if deletionRequests > 0 {
            words += pings == 0 ? ", but " : ", after "
            words += "\(deletionRequests) deletion request\(deletionRequests == 1 ? "" : "s")"
        }
        guard let sdk, version != nil else { return words }
        words += "; SDK \(sdk)"
        if isOverFull {
            return words + " deletes the oldest at its next start, because it keeps no more than " + limitsInWords
        }
        return limits.bytes == nil ? words + " keeps any number" : words + " keeps no more than " + limitsInWords
    }

    private var isOverFull: Bool {
        pings > limits.pings ?? .max || bytes ?? 0 > limits.bytes ?? .max
    }

    private var limitsInWords: String {
        let megabytes = "\((limits.bytes ?? 0) / 1_000_000) MB"
        return limits.pings.map { "\($0) pings and \(megabytes)" } ?? megabytes
    }

    func json(at instant: Int64) -> CanonicalObject {
        var object = CanonicalObject()
        object.set("bytes", integer: bytes)
        object.set("deletionRequests", integer: deletionRequests)
        object.set("isOverFull", boolean: isOverFull)
        object.set("limitBytes", integer: limits.bytes)
        object.set("limitPings", integer: limits.pings)
        object.set("pings", integer: pings)
        object.set("sdk", string: sdk)
        return object
    }

    func state(at instant: Int64) -> QueueState {
        if isOverFull {
            return QueueState(
                .ready, "over-full", "more than the SDK keeps; it deletes the oldest at its next start")
        }
        if pings > 0 { return QueueState(.ready, "pings", "pings are pending") }
        if deletionRequests > 0 {
            return QueueState(.ready, "deletion-requests", "only deletion requests are pending")
        }
        return QueueState(.empty, "empty", "nothing is pending")
    }

    /// The maximum number of pings whose sizes are added up.
    ///
    /// More pings exceed the limits regardless of their sizes.
    static let maximumSummedPings = 500
}
