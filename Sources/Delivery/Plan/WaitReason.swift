import Bytes
import Telemetry

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
