/// A code for which records are held, with what it means.
public struct HoldCode: Sendable, Hashable {
    /// The code: `schema`, ….
    public let code: String
    /// What it means, as the end of a sentence: "held, for" …
    public let meaning: String
    /// Whether no operator may release it.
    public let isFinal: Bool

    /// Describes a code.
    public init(_ code: String, _ meaning: String, isFinal: Bool = false) {
        self.code = code
        self.meaning = meaning
        self.isFinal = isFinal
    }

    /// The codes that records of all systems may have. What cannot be released: pending events may still be sent by the phone
    /// itself, what has no target has nowhere to go, and what nothing proves right may be something that no phone ever said.
    public static let shared = [
        HoldCode("schema", "the payload does not have the documented form"),
        HoldCode("no-target", "the store does not say where it would go", isFinal: true),
        HoldCode("too-few-events", "it has fewer events than a ping is built from"),
        HoldCode("too-many-events", "it has more events than the documented count"),
        HoldCode("pending-events", "the phone may still send these events itself", isFinal: true),
        HoldCode("several-clients", "it has events of more than one client"),
        HoldCode("delivered", "a request log shows that it arrived"),
        HoldCode("foreign-target", "its target names another document"),
        HoldCode("unproven", "it comes from a damaged bundle, and nothing proves its bytes", isFinal: true),
    ]
}

extension SystemTable {
    /// All codes for which records may be held: those that all systems share, and each system's own.
    public var holdCodes: [HoldCode] { HoldCode.shared + all.flatMap(\.uploads.holds) }
}
