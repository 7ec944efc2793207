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
        HoldCode("delivered", "was already delivered; the detail is the status of the answer"),
        HoldCode("foreign-target", "has a target that names another document"),
        HoldCode("no-target", "has no destination that its system knows", isFinal: true),
        HoldCode("pending-events", "has events that are in no ping yet; the device may send them", isFinal: true),
        HoldCode("pseudonymized", "has pseudonyms in place of its ids", isFinal: true),
        HoldCode("schema", "does not have the documented form; the detail names faults"),
        HoldCode("several-clients", "has events of more than one client"),
        HoldCode("too-few-events", "has fewer events than a ping needs"),
        HoldCode("too-many-events", "has more events than the documented maximum"),
        HoldCode("unproven", "is from a damaged bundle and cannot be verified", isFinal: true),
    ]
}

extension SystemTable {
    /// All codes of holds in alphabetical order: those that all systems share and those of single systems.
    public var holdCodes: [HoldCode] { (HoldCode.shared + all.flatMap(\.uploads.holds)).sorted { $0.code < $1.code } }
}
