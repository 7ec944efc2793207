/// A code for which records are held, with what it means.
public struct HoldCode: Sendable, Hashable {
    /// The code: `schema`, ….
    public let code: String
    /// Why such a record is not uploaded as it stands: the rest of a sentence that begins with "the record", without a full stop.
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
        HoldCode("delivered", "arrived already, as a request log shows; its status is told"),
        HoldCode("foreign-target", "has a target that names another document"),
        HoldCode("no-target", "does not say where it would go", isFinal: true),
        HoldCode("pending-events", "holds events of no ping yet, which the phone may still send", isFinal: true),
        HoldCode("pseudonymized", "has other ids than the phone gave it", isFinal: true),
        HoldCode("schema", "does not have the documented form; why is told"),
        HoldCode("several-clients", "holds events of more than one client"),
        HoldCode("too-few-events", "has fewer events than a ping is built from"),
        HoldCode("too-many-events", "has more events than the documented number"),
        HoldCode("unproven", "is from a damaged bundle, and nothing proves it right", isFinal: true),
    ]
}

extension SystemTable {
    /// All codes for which records may be held, by their names: those that all systems share, and each system's own.
    public var holdCodes: [HoldCode] { (HoldCode.shared + all.flatMap(\.uploads.holds)).sorted { $0.code < $1.code } }
}
