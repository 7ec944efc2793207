import Bytes
import Telemetry

/// The decision of a job about a record.
public enum Disposition: Sendable, CaseIterable {
    /// The record is sent.
    case send
    /// Some parts of a list are sent, and the other parts wait for a later job because of the limits.
    case sendPart
    /// A list has no events left to send, so it is settled without a request.
    case settle
    /// The record waits for another day, because the daily limit is reached.
    case dailyLimit
    /// The record waits for another job, because this job has reached the limit for the record's type.
    case typeLimit
    /// The record waits, because another payload with its id is sent by this job or was sent in the last 15 minutes.
    case sameIDSentRecently
    /// The record waits for a credential.
    case missingCredential
    /// The record waits, because its server requested a pause.
    case serverPause
    /// The record is held and must not be sent.
    case held
    /// The record is older than the maximum age, and is not sent.
    case tooOld
    /// The record waits for the operator, because it alone failed with server errors in several jobs.
    case setAside
    /// The record is not sent any more, because its client requested the deletion of its data, or because the server
    /// accepts no more uploads of the client.
    case deletionRequested
    /// The record was delivered before.
    case delivered
    /// The record was refused before.
    case refused
    /// The record is not sent, because an identical record in the bundles is used instead.
    case duplicate
    /// Other requests of this job contain all remaining events of the list.
    case overlapping
    /// The operator gave up the record.
    case givenUp

    /// The stable code in JSON output, metrics and the ledger.
    public var code: String {
        // A raw value would slow down dictionaries, because the string would be hashed for each key.
        switch self {
        case .send: "send"
        case .sendPart: "sent-in-part"
        case .settle: "nothing-left"
        case .dailyLimit: "daily-limit"
        case .typeLimit: "per-type-limit"
        case .sameIDSentRecently: "same-id-lately"
        case .missingCredential: "missing-credential"
        case .serverPause: "server-pause"
        case .held: "held"
        case .tooOld: "too-old"
        case .setAside: "set-aside"
        case .deletionRequested: "deletion-requested"
        case .delivered: "delivered-before"
        case .refused: "refused-before"
        case .duplicate: "duplicate"
        case .overlapping: "events-in-another-request"
        case .givenUp: "given-up"
        }
    }

    /// The name in summaries, which usually consists of the words of the code.
    public var name: String {
        switch self {
        case .typeLimit: "per-type limit"
        case .sameIDSentRecently: "same id sent lately"
        case .serverPause: "server asked to wait"
        case .deletionRequested: code
        case .send, .sendPart, .settle, .dailyLimit, .missingCredential, .held, .tooOld, .setAside, .delivered,
            .refused, .duplicate, .overlapping, .givenUp:
            code.replacing("-", with: " ")
        }
    }

    /// Whether a later job may send the record without action by the operator.
    public var isDeferred: Bool {
        switch self {
        case .sendPart, .dailyLimit, .typeLimit, .sameIDSentRecently, .overlapping, .serverPause: true
        case .send, .settle, .missingCredential, .held, .tooOld, .setAside, .deletionRequested, .delivered, .refused,
            .duplicate, .givenUp:
            false
        }
    }

    /// Whether a later job may send the record, possibly after action by the operator.
    public var isWaiting: Bool {
        switch self {
        case .missingCredential, .held, .tooOld, .setAside: true
        case .send, .sendPart, .settle, .dailyLimit, .typeLimit, .sameIDSentRecently, .serverPause, .deletionRequested,
            .delivered, .refused, .duplicate, .overlapping, .givenUp:
            isDeferred
        }
    }
}

/// The reason why a record is not sent, consisting of a stable code and a detail.
public struct WaitReason: Sendable, Hashable {
    /// The stable code, such as `daily-limit` or `held`.
    @CapturedText public private(set) var code: String
    /// The hold codes of a held record, the account of a missing credential or the answer to a refused record, or `nil`
    /// if the code alone describes the reason.
    @OptionalCapturedText public private(set) var detail: String?

    /// Creates a reason from a stable code and an optional detail.
    public init(code: String, detail: String? = nil) {
        self.code = code
        self.detail = detail
    }

    init(_ disposition: Disposition, detail: String? = nil) {
        self.init(code: disposition.code, detail: detail)
    }

    /// The hold codes of a held record, or an empty array for other reasons.
    public var heldCodes: [String] {
        guard code == Disposition.held.code, let detail else { return [] }
        return detail.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    /// Returns whether the record is held only for hold codes from which an operator may release it.
    public func isReleasable(knowing systems: SystemTable) -> Bool {
        !heldCodes.isEmpty && heldCodes.allSatisfy { HoldCodes.isReleasable($0, knowing: systems) }
    }

    /// Whether a later job may send the record without action by the operator.
    var isDeferred: Bool { Disposition.allCases.first { $0.code == code }?.isDeferred ?? true }

    /// The reason for display, such as `held: schema+no-target`.
    public var text: String {
        let name = Disposition.allCases.first { $0.code == code }?.name ?? Self.names[code] ?? code
        let shown = heldCodes.isEmpty ? detail : joinedHoldCodes
        return shown.map { "\(name): \($0)" } ?? name
    }

    /// The hold codes for display, such as `attribution+delivered`.
    ///
    /// A comma would look like the end of an entry in a list of reasons.
    public var joinedHoldCodes: String { heldCodes.joined(separator: "+") }

    /// The reason of a planned record that is not settled yet.
    static let notSent = WaitReason(code: "not-sent")

    static let inFlight = WaitReason(code: "in-flight")

    /// The reason of a refused record that the operator has selected to be sent again.
    static let toRetry = WaitReason(code: "to-be-sent-again")

    /// The names of reasons that are not dispositions.
    private static let names = [notSent.code: "not sent", inFlight.code: "in flight", toRetry.code: "to be sent again"]
}

extension WaitReason: Comparable {
    /// Returns whether `left` is listed before `right`.
    public static func < (left: WaitReason, right: WaitReason) -> Bool {
        CapturedText(left.text) < CapturedText(right.text)
    }
}
