import Bytes

/// A notable condition of a store that is reported to the operator.
public struct Problem: Sendable, Equatable {
    /// A short code, such as `pending-counters` or `unreadable`.
    public var code: String
    /// The description of the problem.
    public var text: String

    /// The byte offset of the problem in the file, or `nil` if it is unknown or the whole file is affected.
    public var offset: Int?

    /// Whether some data was not read or not kept because of the problem.
    public var isLoss: Bool

    /// Creates a problem.
    ///
    /// If `isLoss` is `nil`, the code determines whether data was lost.
    public init(_ code: String, _ text: String, at offset: Int? = nil, isLoss: Bool? = nil) {
        self.code = code
        self.text = text
        self.offset = offset
        self.isLoss = isLoss ?? Self.isLoss(code)
    }

    /// The codes of problems that mean a loss of data by default.
    private static let lossCodes: Set<CapturedText> = [
        "changed", "damaged", "entry_limit", "line_limit", "link", "quarantine-limit", "unreadable",
    ]

    /// Returns whether a problem with this code means a loss of data by default.
    static func isLoss(_ code: String) -> Bool { lossCodes.contains(code) }

    /// Whether the operator should look at the problem although no data was lost.
    ///
    /// Examples are a special file in place of a store, and a problem that lost no data although its code usually means
    /// a loss.
    public var isWarning: Bool { !isLoss && (code == "special" || Self.isLoss(code)) }
}
