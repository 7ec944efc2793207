/// A notable condition of a store that is reported to the operator.
public struct Problem: Sendable, Equatable {
    /// A short code, such as `pending-counters` or `unreadable`.
    public var code: String
    /// The description of the problem.
    public var text: String

    /// The offset in the file in bytes, or `nil` for the whole file or if the offset is unknown.
    public var offset: Int?

    /// Whether data was lost because it was not read or not kept.
    public var isLoss: Bool

    /// Creates a problem, whose code determines whether it is a loss if `isLoss` is `nil`.
    public init(_ code: String, _ text: String, at offset: Int? = nil, isLoss: Bool? = nil) {
        self.code = code
        self.text = text
        self.offset = offset
        self.isLoss = isLoss ?? Self.isLoss(code)
    }

    /// The codes of problems that are losses unless their reporter states otherwise.
    private static let lossCodes: Set<String> = [
        "changed", "damaged", "entry_limit", "line_limit", "link", "quarantine-limit", "unreadable",
    ]

    /// Returns whether a problem with this code is a loss unless its reporter states otherwise.
    static func isLoss(_ code: String) -> Bool { lossCodes.contains(code) }

    /// Whether the operator should look at the problem although no data was lost.
    ///
    /// This is the case for a special file in place of a store, because it contains no records. It is also the case for
    /// a code that usually means a loss if its reporter states otherwise.
    public var isWarning: Bool { !isLoss && (code == "special" || Self.isLoss(code)) }
}
