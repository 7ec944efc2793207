/// Something worth telling the operator about a store.
public struct Problem: Sendable, Equatable {
    /// A short code: `pending-counters`, `unreadable`, ….
    public var code: String
    /// The problem in words.
    public var text: String

    /// Where it is in the file, in bytes; nil for the whole file, or where that is not known.
    public var offset: Int?

    /// Whether something was not read, which the code alone does not tell.
    public var isLoss: Bool

    /// Says what is worth telling.
    /// - Parameters:
    ///   - offset: where it is in the file, in bytes.
    ///   - isLoss: whether something was not read, which the code alone does not tell.
    public init(_ code: String, _ text: String, at offset: Int? = nil, isLoss: Bool = false) {
        self.code = code
        self.text = text
        self.offset = offset
        self.isLoss = isLoss
    }
}
