import Telemetry

/// Why a record is not sent: a code that stays the same from version to version, and what it is about.
public struct WaitReason: Sendable, Hashable {
    /// The code: `daily-limit`, `held`, ….
    public let code: String
    /// The codes for which a record is held, or the account whose credential is missing; nil where there is no more to say.
    public let detail: String?

    /// Names a reason.
    public init(code: String, detail: String? = nil) {
        self.code = code
        self.detail = detail
    }

    /// The reason of a disposition.
    init(_ disposition: Disposition, detail: String? = nil) {
        self.init(code: disposition.code, detail: detail)
    }

    /// Reads a reason as ledgers of the first releases keep it, which is in words.
    init(words: String) {
        let parts = words.split(separator: ":", maxSplits: 1).map(String.init)
        let disposition = Disposition.allCases.first { $0.name == parts.first }
        self.init(
            code: disposition?.code ?? Self.notSent.code,
            detail: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : nil)
    }

    /// The codes for which the record is held; none if it waits for another reason.
    public var heldCodes: [String] {
        guard code == Disposition.held.code, let detail else { return [] }
        return detail.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    /// Whether the record is held, and an operator may accept each code for which it is.
    public func isReleasable(knowing systems: SystemTable) -> Bool {
        !heldCodes.isEmpty && heldCodes.allSatisfy { HoldCodes.isReleasable($0, knowing: systems) }
    }

    /// The reason in words: `held: schema`.
    public var text: String {
        let name = Disposition.allCases.first { $0.code == code }?.name ?? Self.names[code] ?? code
        return detail.map { "\(name): \($0)" } ?? name
    }

    /// Why a planned record waits: until it is settled, nothing else is known.
    static let notSent = WaitReason(code: "not-sent")

    /// Nothing more is known of an upload that was marked in flight.
    static let inFlight = WaitReason(code: "in-flight")

    /// It was refused, and an operator wants it sent again.
    static let toRetry = WaitReason(code: "to-be-sent-again")

    /// Reasons that are no disposition.
    private static let names = [
        notSent.code: "not sent", inFlight.code: "in flight", toRetry.code: "to be sent again",
    ]
}

extension WaitReason: Comparable {
    /// Whether one reason comes before another in lists.
    public static func < (left: WaitReason, right: WaitReason) -> Bool { left.text < right.text }
}
