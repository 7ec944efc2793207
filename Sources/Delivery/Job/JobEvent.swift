import JSONText
import Telemetry

/// A log entry for one finished upload.
public struct JobEvent: Sendable {
    /// The time at which the upload finished.
    public let time: Timestamp
    /// The type of the upload.
    public let type: TypeName
    /// The id of the record.
    public let id: String
    /// The client id of the record, or `nil` if the record has none.
    public let client: String?
    /// The outcome of the upload.
    public let outcome: Outcome

    /// The event as one line of canonical JSON.
    public var jsonLine: [UInt8] {
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
    /// The name of the outcome in logs.
    var name: String {
        switch self {
        case .delivered: "delivered"
        case .refused: "refused"
        case .retryLater: "later"
        case .unknown: "unknown"
        case .credentialWrong: "credential"
        }
    }

    /// The HTTP status of the answer that determined the outcome, or `nil` if no answer did or the outcome is unknown.
    var status: Int? {
        switch self {
        case .delivered(let status, _), .refused(let status, _), .credentialWrong(let status, _, _): status
        case .retryLater(let status, _): status
        case .unknown: nil
        }
    }

    /// The reason given by the server or this program, or `nil` if the upload succeeded without a remark.
    var reason: String? {
        switch self {
        case .delivered(_, let note): note
        case .refused(_, let reason), .retryLater(_, let reason), .unknown(let reason),
            .credentialWrong(_, let reason, _):
            reason
        }
    }

    /// Whether the outcome is final, so that no later job sends the upload again unless the operator requests it.
    var isSettled: Bool {
        switch self {
        case .delivered, .refused: true
        case .retryLater, .unknown, .credentialWrong: false
        }
    }
}
