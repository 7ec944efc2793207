/// The first few of things that may be millions, how many there are, and how many of each code.
public struct FirstFew<Element: Sendable>: Sendable {
    /// How many are shown; bundles carry all.
    public static var shown: Int { 1000 }

    /// Those that are kept.
    public private(set) var elements: [Element] = []
    /// How many there are.
    public private(set) var count = 0
    /// How many there are of each code.
    public private(set) var counts: [String: Int] = [:]
    private let limit: Int
    private let codeLimit: Int

    /// Keeps nothing yet.
    /// - Parameters:
    ///   - limit: how many elements are kept.
    ///   - codeLimit: how many codes are told apart; those of a bundle can be any number. Others count as `other`.
    public init(limit: Int = FirstFew.shown, codeLimit: Int = 1000) {
        self.limit = limit
        self.codeLimit = codeLimit
    }

    /// How many there are that are not kept.
    public var left: Int { count - elements.count }

    /// Adds one.
    /// - Parameter reason: begins with the code, up to the first space.
    public mutating func add(_ element: Element, reason: String) {
        count += 1
        if elements.count < limit { elements.append(element) }
        let code = String(reason.prefix { $0 != " " })
        counts[counts[code] != nil || counts.count < codeLimit ? code : "other", default: 0] += 1
    }
}
