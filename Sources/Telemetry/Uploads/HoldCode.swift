/// A code that specifies why a record is held, with its meaning.
public struct HoldCode: Sendable, Hashable {
    /// The code, such as `schema`.
    public let code: String
    /// The reason why the record is not uploaded, completing a sentence that begins with "the record".
    public let meaning: String
    /// Whether the operator cannot release records with this hold.
    public let isFinal: Bool

    /// Creates a hold code with its meaning.
    public init(_ code: String, _ meaning: String, isFinal: Bool = false) {
        self.code = code
        self.meaning = meaning
        self.isFinal = isFinal
    }

    /// The codes that records of all systems can have.
    ///
    /// Some of these holds are final. For example, the device can still send pending events itself, and an unverifiable
    /// record can contain data that no device recorded.
    public static let shared = [
        HoldCode(Hold.deletionRequested.code, "is of a client or profile that asked for deletion", isFinal: true),
        HoldCode(Hold.delivered.code, "was already delivered; the detail is the HTTP status"),
        HoldCode("foreign-target", "has a target path that belongs to another document"),
        HoldCode("no-target", "has no valid destination in its system", isFinal: true),
        HoldCode(Hold.optedOut.code, "is of a person who has switched off usage data"),
        HoldCode("pending-events", "has unsent events that the device may still send itself", isFinal: true),
        HoldCode("pseudonymized", "contains pseudonyms instead of the original ids", isFinal: true),
        HoldCode("schema", "does not match the documented format; see the detail"),
        HoldCode("several-clients", "contains events of more than one client"),
        HoldCode("too-few-events", "has fewer events than the documented minimum"),
        HoldCode("too-many-events", "has more events than the documented maximum"),
        HoldCode("unproven", "is from a damaged bundle and cannot be verified", isFinal: true),
    ]
}

extension SystemTable {
    /// The hold codes of all systems in alphabetical order.
    public var holdCodes: [HoldCode] { (HoldCode.shared + all.flatMap(\.uploads.holds)).sorted { $0.code < $1.code } }
}
