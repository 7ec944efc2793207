import Bytes
import PropertyList

/// A keyed archive of the SDK.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 1, 3 and 5.
struct AdjustArchive {
    let document: PropertyListDocument
    /// The object graph of ``document``.
    var graph: KeyedArchive
    /// The budget for the strings that ``strings(of:)`` reads.
    var budget = WorkBudget()
    /// Whether a string of the current package contains a lone surrogate, which U+FFFD replaces.
    var hasReplacedSurrogate = false

    /// The classes of the SDK.
    ///
    /// The raw values are indexes in ``classNames``.
    enum ClassName: Int {
        case package, activityState, attribution, eventMetadata
    }

    /// The names of each class in all versions of the SDK.
    static let classNames = [
        ["AIActivityPackage", "ADJActivityPackage"], ["AIActivityState", "ADJActivityState"], ["ADJAttribution"],
        ["ADJEventMetadata"],
    ]

    /// Opens a keyed archive, or throws an error for any other bytes.
    init(_ bytes: [UInt8]) throws(PropertyListError) {
        document = try PropertyListDocument(bytes)
        graph = try KeyedArchive(document, classNames: Self.classNames)
    }

    // MARK: Root

    /// Returns the root if it is an instance of the given class, or throws an error.
    @discardableResult
    mutating func root(named name: ClassName) throws(PropertyListError) -> PropertyListNode {
        guard case .instance(let node, let rootClass) = try root(), rootClass.isNamed(name.rawValue) else {
            throw wrongRoot("the root has another class")
        }
        return node
    }

    /// Returns the elements of the root, or throws an error if it is not an array.
    mutating func rootElements() throws(PropertyListError) -> KeyedElements {
        guard case .array(let elements, .array) = try root() else { throw wrongRoot("the root is not an array") }
        return elements
    }

    /// Returns the entries of the root, or throws an error if the root is not a dictionary.
    ///
    /// The result contains `nil` for each value that is not a string.
    consuming func rootStrings() throws(PropertyListError) -> [CapturedText: String?] {
        guard case .dictionary(let pairs) = try root() else { throw wrongRoot("the root is not a dictionary") }
        return try strings(of: pairs)
    }

    private mutating func root() throws(PropertyListError) -> KeyedValue { try graph.value(ofObject: graph.root()) }

    private func wrongRoot(_ reason: String) -> PropertyListError {
        document.error(.wrongRoot, at: document.root, reason)
    }

    // MARK: Packages

    /// Returns whether the root is an array with at least one package.
    mutating func holdsPackage() -> Bool {
        guard let elements = try? rootElements() else { return false }
        return (0..<elements.count).contains { (try? package(graph.element(at: $0, of: elements))) != nil }
    }

    /// Returns the instance that `stored` refers to, or throws an error if it is not a package.
    mutating func package(_ stored: PropertyListNode) throws(PropertyListError) -> PropertyListNode {
        guard case .instance(let node, let nodeClass) = try graph.value(of: stored),
            nodeClass.isNamed(ClassName.package.rawValue)
        else { throw document.error(.wrongClass, at: stored, "an element that is not a package") }
        return node
    }

    // MARK: Values

    /// Returns the entries of the dictionary `pairs`, with `nil` for each value that is not a string.
    ///
    /// The first entry of each name applies. An entry whose key is not a string has the name "".
    ///
    /// - Throws: An error with the code `budgetExceeded` if the strings are larger than any app needs.
    mutating func strings(of pairs: KeyedPairs) throws(PropertyListError) -> [CapturedText: String?] {
        var strings: [CapturedText: String?] = [:]
        var byteCount = 0
        for position in 0..<pairs.count {
            let key = try graph.value(at: position, of: pairs.keys)
            let value = try graph.value(at: position, of: pairs.values)
            let start = byteCount
            for case .text(let node) in [key, value] { byteCount += document.payload(of: node).count }
            guard byteCount <= Self.stringsLimit, budget.reserve(nodes: 1, bytes: byteCount - start) else {
                let node = try graph.element(at: position, of: pairs.keys)
                throw document.error(.budgetExceeded, at: node, "more than \(Self.stringsLimit >> 20) MiB of strings")
            }
            let name = string(key) ?? ""
            if strings[name] == nil { strings.updateValue(string(value), forKey: CapturedText(name)) }
        }
        return strings
    }

    /// The maximum size, in bytes, of the strings in a dictionary.
    private static let stringsLimit = 1 << 20

    /// Returns the string that is stored under `key` in `instance`, or `nil` if the value is missing or not a string.
    ///
    /// A string that is longer than any string of the SDK is replaced by an empty string, because many packages can
    /// share it.
    mutating func string(_ key: String, of instance: PropertyListNode) throws(PropertyListError) -> String? {
        let value = try graph.object(graph.key(key), of: instance)
        if case .text(let node) = value, document.payload(of: node).count > 4096 { return "" }
        return string(value)
    }

    /// Records whether the string `node` contains a lone surrogate.
    mutating func noteSurrogates(in node: PropertyListNode) {
        hasReplacedSurrogate = hasReplacedSurrogate || document.hasLoneSurrogate(node)
    }

    private mutating func string(_ value: KeyedValue) -> String? {
        guard case .text(let node) = value else { return nil }
        noteSurrogates(in: node)
        return document.string(of: node)
    }

    /// Returns the member `key` of an instance as a number, or `nil` if no number or flag is stored inline.
    mutating func number(_ key: String, of instance: PropertyListNode) -> Double? {
        graph.member(graph.key(key), of: instance).flatMap { document.number(of: $0) }
    }
}
