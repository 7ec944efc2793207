/// Something worth telling the operator about a store.
public struct Problem: Sendable, Equatable {
    /// A short code: `pending-counters`, `unreadable`, ….
    public var code: String
    /// The problem in words.
    public var text: String

    /// Where it is in the file, in bytes; nil for the whole file, or where that is not known.
    public var offset: Int?

    /// Whether something was not read or not kept.
    public var isLoss: Bool

    /// Creates a problem.
    /// - Parameters:
    ///   - offset: The offset in the file, in bytes.
    ///   - isLoss: Whether something was not read or not kept. If `nil`, the code decides.
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

    /// Whether the operator should look at the problem although nothing was lost.
    ///
    /// A special file in the place of a store is not read, but holds no records. The same is true of a problem that is usually
    /// a loss and is none here.
    public var isWarning: Bool { !isLoss && (code == "special" || Self.isLoss(code)) }
}
