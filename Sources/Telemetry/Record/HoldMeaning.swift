/// What the code of a hold means: a word for machines, and a sentence for people.
public struct HoldMeaning: Sendable {
    /// The code, as ``Hold/code`` has it.
    public let code: String
    /// Why such a record is not uploaded as it stands: the rest of a sentence that begins with "the record", without a full stop.
    public let text: String

    private init(_ code: String, _ text: String) {
        self.code = code
        self.text = text
    }

    /// All codes that records are held by, by their names.
    public static let all: [HoldMeaning] = [
        HoldMeaning("capability", "asks for a way of sending that is not known"),
        HoldMeaning("delivered", "arrived already, as a request log shows; its status is told"),
        HoldMeaning("headers", "has header fields that were not understood"),
        HoldMeaning("incomplete", "lay among unfinished files, which an app does not send"),
        HoldMeaning("metadata", "has a line of metadata that cannot be read"),
        HoldMeaning("no-target", "does not say where it would go"),
        HoldMeaning("pending-events", "holds events of no ping yet, which the phone may still send"),
        HoldMeaning("pseudonymized", "has other ids than the phone gave it"),
        HoldMeaning("schema", "does not have the documented form; why is told"),
        HoldMeaning("several-clients", "holds events of more than one client"),
        HoldMeaning("too-few-events", "has fewer events than a ping is built from"),
        HoldMeaning("too-many-events", "has more events than the documented number"),
        HoldMeaning("unproven", "is from a damaged bundle, and nothing proves it right"),
    ]
}
