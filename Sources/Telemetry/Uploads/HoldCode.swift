/// A code of holds and its meaning.
public struct HoldCode: Sendable, Hashable {
    /// The code, such as `schema`.
    public let code: String
    /// The reason why such a record is not uploaded as it is.
    ///
    /// The phrase completes a sentence that begins with "the record", and has no full stop.
    public let meaning: String
    /// Whether the operator cannot release such a record.
    public let isFinal: Bool

    /// Creates a code.
    public init(_ code: String, _ meaning: String, isFinal: Bool = false) {
        self.code = code
        self.meaning = meaning
        self.isFinal = isFinal
    }

    /// The codes that records of all systems can have.
    ///
    /// Some records cannot be released. The device can still send pending events itself, a record without a target has
    /// no destination, and an unverifiable record can contain data that no device recorded.
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
    /// All codes of holds in alphabetical order: those that all systems share and those of single systems.
    public var holdCodes: [HoldCode] { (HoldCode.shared + all.flatMap(\.uploads.holds)).sorted { $0.code < $1.code } }
}
