import Bytes

/// A list that keeps its first elements, and counts all elements by their codes.
public struct CappedList<Element: Sendable>: Sendable {
    /// The default maximum number of kept elements.
    public static var defaultLimit: Int { 1000 }

    /// The elements that are kept.
    public private(set) var elements: [Element] = []
    /// The number of all elements.
    public private(set) var count = 0
    /// The number of all elements with each code.
    public private(set) var countsByCode: [CapturedText: Int] = [:]
    private let elementLimit: Int
    private let codeLimit: Int

    /// Creates an empty list.
    ///
    /// `elementLimit` is the maximum number of kept elements. `codeLimit` is the maximum number of codes that are
    /// counted separately, because bundles may contain any number of codes. Further codes count as `other`.
    public init(limit elementLimit: Int = CappedList.defaultLimit, codeLimit: Int = 1000) {
        self.elementLimit = elementLimit
        self.codeLimit = codeLimit
    }

    /// The number of elements that are not kept.
    public var omittedCount: Int { count - elements.count }

    /// Adds an element under the code that precedes the first space in `reason`.
    public mutating func add(_ element: Element, reason: String) {
        count += 1
        if elements.count < elementLimit { elements.append(element) }
        let code = String(reason.prefix { $0 != " " })
        countsByCode[countsByCode[code] != nil || countsByCode.count < codeLimit ? code : "other", default: 0] += 1
    }
}
