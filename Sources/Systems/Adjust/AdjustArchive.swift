import Bytes
import JSONText
import PropertyList

/// A keyed archive of the SDK.
///
/// Source: "Adjust iOS SDK: the package queue on disk, records, upload", sections 1, 3 and 5.
struct AdjustArchive {
    var archive: KeyedArchive
    /// The values that JSON cannot represent, by UID, and whether a credential was found in each of them.
    ///
    /// Many parameters can share one large value, which is examined only once.
    var unrepresentableValues: [UInt32: Bool] = [:]
    /// Whether a string of the current package contains a lone surrogate, which U+FFFD replaces.
    var hasReplacedSurrogate = false

    /// The classes of the SDK.
    ///
    /// The raw values are indexes in the list of class names of `KeyedArchive`.
    enum ClassName: Int, CaseIterable {
        case oldPackage
        case package
        case oldActivityState
        case activityState
        case attribution
        case eventMetadata

        var text: String {
            switch self {
            case .oldPackage: "AIActivityPackage"
            case .package: "ADJActivityPackage"
            case .oldActivityState: "AIActivityState"
            case .activityState: "ADJActivityState"
            case .attribution: "ADJAttribution"
            case .eventMetadata: "ADJEventMetadata"
            }
        }
    }

    /// Opens a keyed archive, or throws an error for any other bytes.
    init(_ bytes: [UInt8]) throws(PropertyListError) {
        archive = try KeyedArchive(PropertyListDocument(bytes), classNames: ClassName.allCases.map(\.text))
    }

    /// Returns the root if it is an instance of one of the given classes, or throws an error.
    mutating func root(named names: [ClassName]) throws(PropertyListError) -> PropertyListNode {
        let root = try archive.root()
        guard case .instance(let node, let rootClass) = try archive.value(ofObject: root),
            names.contains(where: { rootClass.isNamed($0.rawValue) })
        else { throw wrongRoot("the root has another class") }
        return node
    }

    /// Returns the elements of the root, or throws an error if it is not an array.
    mutating func rootElements() throws(PropertyListError) -> KeyedElements {
        let root = try archive.root()
        guard case .array(let elements, .array) = try archive.value(ofObject: root) else {
            throw wrongRoot("the root is not an array")
        }
        return elements
    }

    /// Whether the root is an array with at least one package.
    var holdsPackage: Bool {
        mutating get {
            guard let elements = try? rootElements() else { return false }
            for position in 0..<elements.count {
                if let element = try? archive.element(at: position, of: elements), (try? package(element)) != nil {
                    return true
                }
            }
            return false
        }
    }

    /// Returns the instance that `stored` refers to, or throws an error if it is not a package.
    mutating func package(_ stored: PropertyListNode) throws(PropertyListError) -> PropertyListNode {
        guard case .instance(let node, let nodeClass) = try archive.value(of: stored),
            [ClassName.oldPackage, .package].contains(where: { nodeClass.isNamed($0.rawValue) })
        else {
            throw PropertyListError(
                .wrongClass, at: archive.document.offset(of: stored), "an element that is not a package")
        }
        return node
    }

    /// Returns the entries of the root, or throws an error if the root is not a dictionary.
    ///
    /// The result contains `nil` for each value that is not a string.
    mutating func rootStrings() throws(PropertyListError) -> [CapturedText: String?] {
        let root = try archive.root()
        guard case .dictionary(let pairs) = try archive.value(ofObject: root) else {
            throw wrongRoot("the root is not a dictionary")
        }
        var budget = WorkBudget()
        return try strings(of: pairs, charging: &budget)
    }

    /// Returns the entries of the dictionary `pairs`, with `nil` for each value that is not a string.
    ///
    /// The first entry of each name applies. An entry whose key is not a string has the name "".
    ///
    /// - Throws: An error with the code `budgetExceeded` if the strings are larger than any app needs.
    mutating func strings(
        of pairs: KeyedPairs, charging budget: inout WorkBudget
    ) throws(PropertyListError) -> [CapturedText: String?] {
        var strings: [CapturedText: String?] = [:]
        var byteCount = 0
        for position in 0..<pairs.count {
            let (key, value) = (try key(at: position, of: pairs), try self.value(at: position, of: pairs))
            let start = byteCount
            for case .text(let node) in [key, value] { byteCount += archive.document.payload(of: node).count }
            guard byteCount <= Self.stringsLimit, budget.reserve(nodes: 1, bytes: byteCount - start) else {
                let offset = archive.document.offset(of: try archive.element(at: position, of: pairs.keys))
                throw PropertyListError(
                    .budgetExceeded, at: offset, "more than \(Self.stringsLimit >> 20) MiB of strings")
            }
            let name = string(key) ?? ""
            if strings[name] == nil { strings.updateValue(string(value), forKey: CapturedText(name)) }
        }
        return strings
    }

    /// The maximum size, in bytes, of the strings in a dictionary.
    private static let stringsLimit = 1 << 20

    mutating func key(at position: Int, of pairs: KeyedPairs) throws(PropertyListError) -> KeyedValue {
        try archive.value(of: archive.element(at: position, of: pairs.keys))
    }

    mutating func value(at position: Int, of pairs: KeyedPairs) throws(PropertyListError) -> KeyedValue {
        try archive.value(of: archive.element(at: position, of: pairs.values))
    }

    /// Returns the string that is stored under `key` in `instance`, or `nil` if the value is missing or not a string.
    ///
    /// A string that is longer than any string of the SDK is replaced by an empty string, because many packages can
    /// share it.
    mutating func string(_ key: String, of instance: PropertyListNode) throws(PropertyListError) -> String? {
        let value = try archive.object(archive.key(key), of: instance)
        if case .text(let node) = value, archive.document.payload(of: node).count > 4096 { return "" }
        return string(value)
    }

    /// Records whether the string `node` contains a lone surrogate.
    mutating func noteSurrogates(in node: PropertyListNode) {
        hasReplacedSurrogate = hasReplacedSurrogate || archive.document.hasLoneSurrogate(node)
    }

    private mutating func string(_ value: KeyedValue) -> String? {
        guard case .text(let node) = value else { return nil }
        noteSurrogates(in: node)
        return archive.document.string(of: node)
    }

    /// Returns the member `key` of an instance as a flag, or `nil` if no number or flag is stored inline.
    mutating func flag(_ key: String, of instance: PropertyListNode) -> Bool? {
        number(key, of: instance).map { $0 != 0 }
    }

    /// Returns the member `key` of an instance as a number, or `nil` if no number or flag is stored inline.
    mutating func number(_ key: String, of instance: PropertyListNode) -> Double? {
        guard let stored = archive.member(archive.key(key), of: instance) else { return nil }
        let document = archive.document
        return switch document.kind(of: stored) {
        case .boolean: document.boolean(of: stored) ? 1 : 0
        case .integer: document.integer(of: stored).real
        case .real: document.real(of: stored)
        case .null, .date, .data, .text, .uid, .array, .dictionary: nil
        }
    }

    private func wrongRoot(_ reason: String) -> PropertyListError {
        PropertyListError(.wrongRoot, at: archive.document.offset(of: archive.document.root), reason)
    }
}
