/// Something worth telling the operator about a store.
public struct Problem: Sendable, Equatable {
    /// A short code: `pending-counters`, `unreadable`, ….
    public var code: String
    /// The problem in words.
    public var text: String

    /// Says what is worth telling.
    public init(_ code: String, _ text: String) {
        self.code = code
        self.text = text
    }
}
