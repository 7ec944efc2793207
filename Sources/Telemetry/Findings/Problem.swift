/// Something worth telling the operator about a store.
public struct Problem: Sendable, Equatable {
    /// A short code: `pending-counters`, `unreadable`, ….
    public var code: String
    /// The problem in words.
    public var text: String

    /// Whether something was not read, which the code alone does not tell.
    public var isLoss: Bool

    /// Says what is worth telling.
    /// - Parameter isLoss: whether something was not read, which the code alone does not tell.
    public init(_ code: String, _ text: String, isLoss: Bool = false) {
        self.code = code
        self.text = text
        self.isLoss = isLoss
    }
}
