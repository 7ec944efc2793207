import JSONText
import Telemetry

/// One upload that came to its end, for a log.
public struct JobEvent: Sendable {
    /// When.
    public let time: Timestamp
    /// Its type.
    public let type: TypeName
    /// The record's id.
    public let id: String
    /// The record's client.
    public let client: String?
    /// What became of it.
    public let outcome: Outcome

    /// The event as one line of canonical JSON.
    public var line: [UInt8] {
        var object = CanonicalObject()
        object.set("client", string: client)
        object.set("id", string: id)
        object.set("outcome", string: outcome.name)
        object.set("reason", string: outcome.reason)
        object.set("status", integer: outcome.status)
        object.set("system", string: type.system.description)
        object.set("time", string: time.description)
        object.set("type", string: type.name)
        return object.bytes
    }
}

extension Outcome {
    /// Its name in logs.
    var name: String {
        switch self {
        case .delivered: "delivered"
        case .refused: "refused"
        case .retryLater: "later"
        case .unknown: "unknown"
        case .credentialWrong: "credential"
        }
    }

    /// The status of the last answer; nil if there was none.
    var status: Int? {
        switch self {
        case .delivered(let status, _), .refused(let status, _), .credentialWrong(let status, _, _): status
        case .retryLater(let status, _): status
        case .unknown: nil
        }
    }

    /// Why it is no plain success; nil if it is.
    var reason: String? {
        switch self {
        case .delivered(_, let note): note
        case .refused(_, let reason), .retryLater(_, let reason), .unknown(let reason),
            .credentialWrong(_, let reason, _):
            reason
        }
    }

    /// Whether the upload will not be sent again by itself.
    var isSettled: Bool {
        switch self {
        case .delivered, .refused: true
        case .retryLater, .unknown, .credentialWrong: false
        }
    }
}
