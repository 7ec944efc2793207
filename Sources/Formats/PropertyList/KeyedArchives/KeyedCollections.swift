import Bytes
import JSONText

/// The elements of an array, a set or an ordered set of a keyed archive.
public struct KeyedElements: Hashable, Sendable {
    /// The inline array of the elements, or the index of the first element in `KeyedArchive.numberedNodes`.
    enum Storage: Hashable, Sendable {
        case listed(PropertyListElements)
        case numbered(start: Int)
    }

    let storage: Storage
    /// The number of elements.
    public let count: Int
}

/// The keys and values of a dictionary of a keyed archive, in the order of the file.
public struct KeyedPairs: Hashable, Sendable {
    /// The keys, which are usually strings, but can be any values.
    public let keys: KeyedElements
    /// The values, in the order of ``keys``.
    public let values: KeyedElements
    /// The number of pairs.
    public var count: Int { keys.count }
}

extension KeyedArchive {
    /// Returns the elements of an array, a set or an ordered set.
    public mutating func elements(of instance: PropertyListNode) throws(PropertyListError) -> KeyedElements {
        if let list = member(objectsKey, of: instance) { return try listedElements(list) }
        let elements = findNumberedElements("NS.object.", of: instance)
        // An ordered set does not store a count, so an empty ordered set has no members at all.
        if elements.count > 0 { return elements }
        if let found = try classOfInstance(instance), found.foundation == .orderedSet { return elements }
        throw badCollection(instance, "a collection without elements")
    }

    /// Returns the keys and values of a dictionary.
    ///
    /// - Throws: ``PropertyListError`` with the code `badCollection` if the keys or values are missing, or if their
    ///   counts differ.
    public mutating func pairs(of instance: PropertyListNode) throws(PropertyListError) -> KeyedPairs {
        let pairs: KeyedPairs
        if let values = member(objectsKey, of: instance) {
            guard let keys = member(keysKey, of: instance) else {
                throw badCollection(instance, "a dictionary without keys")
            }
            pairs = KeyedPairs(keys: try listedElements(keys), values: try listedElements(values))
        } else {
            pairs = KeyedPairs(
                keys: findNumberedElements("NS.key.", of: instance),
                values: findNumberedElements("NS.object.", of: instance))
            guard pairs.count > 0 else { throw badCollection(instance, "a dictionary without values") }
        }
        guard pairs.keys.count == pairs.values.count else {
            throw badCollection(
                instance, "\(pairs.keys.count.counted("key")) and \(pairs.values.count.counted("value"))")
        }
        return pairs
    }

    /// Returns the stored element at a position, or throws an error if the element is not a UID.
    public func element(at position: Int, of elements: KeyedElements) throws(PropertyListError) -> PropertyListNode {
        let node: PropertyListNode
        switch elements.storage {
        case .listed(let list): node = document.element(at: position, of: list)
        case .numbered(let start):
            precondition(position < elements.count)
            node = numberedNodes[start + position]
        }
        guard document.marker(of: node) >> 4 == 8 else { throw badCollection(node, "an element that is no reference") }
        return node
    }

    /// Returns the value of the element at a position.
    public mutating func value(at position: Int, of elements: KeyedElements) throws(PropertyListError) -> KeyedValue {
        try value(of: element(at: position, of: elements))
    }

    private func listedElements(_ list: PropertyListNode) throws(PropertyListError) -> KeyedElements {
        guard document.kind(of: list) == .array else { throw badCollection(list, "elements that are no array") }
        let elements = document.elements(of: list)
        return KeyedElements(storage: .listed(elements), count: elements.count)
    }

    /// Returns the values of the members whose names are `prefix` followed by 0, 1, and so on without a gap.
    private mutating func findNumberedElements(_ prefix: String, of instance: PropertyListNode) -> KeyedElements {
        if let known = numberedElements[prefix]?[instance.number] { return known }
        let members = document.members(of: instance)
        var entries: [(index: Int, node: PropertyListNode)] = []
        for position in 0..<members.count {
            let key = document.key(at: position, of: members)
            guard !document.isUTF16(key), let index = Self.index(in: document.payload(of: key), after: prefix) else {
                continue
            }
            entries.append((index, document.value(at: position, of: members)))
        }
        entries.sort { $0.index < $1.index }
        let start = numberedNodes.count
        for (index, entry) in entries.enumerated() {
            guard entry.index == index else { break }
            numberedNodes.append(entry.node)
        }
        let elements = KeyedElements(storage: .numbered(start: start), count: numberedNodes.count - start)
        numberedElements[prefix, default: [:]][instance.number] = elements
        return elements
    }

    /// Returns the number after `prefix` in `key`, or `nil` if there is none or it has leading zeros.
    private static func index(in key: Span<UInt8>, after prefix: String) -> Int? {
        guard key.begins(with: prefix, at: 0) else { return nil }
        let digits = key.extracting(droppingFirst: prefix.utf8.count)
        guard (1...9).contains(digits.count), digits.count == 1 || digits[0] != UInt8(ascii: "0") else { return nil }
        return digits.decimalNumber
    }

    func badCollection(_ node: PropertyListNode, _ reason: String) -> PropertyListError {
        document.error(.badCollection, at: node, reason)
    }
}

extension PropertyListDocument {
    /// Returns the element at a position if it is a UID in an inline array, which is the usual case.
    ///
    /// If this method returns `nil`, call ``KeyedArchive/element(at:of:)``, which returns the element or throws the
    /// error.
    @inline(__always)
    public func reference(at position: Int, of elements: KeyedElements) -> PropertyListNode? {
        guard case .listed(let list) = elements.storage else { return nil }
        let node = element(at: position, of: list)
        return marker(of: node) >> 4 == 8 ? node : nil
    }

    /// Returns the object number of the element at a position, or `nil` if the elements are not in an inline array.
    @inline(__always)
    public func number(at position: Int, of elements: KeyedElements) -> UInt32? {
        guard case .listed(let list) = elements.storage else { return nil }
        precondition(position >= 0 && position < list.count)
        return referenceNumber(at: list.start + position * layout.referenceSize)
    }

    /// Returns the object that a UID refers to, or `nil` if the object is nil or the UID is out of range.
    ///
    /// If this method returns `nil`, call ``KeyedArchive/object(_:)``, which distinguishes these cases.
    @inline(__always)
    public func object(of reference: PropertyListNode, among objects: PropertyListElements) -> PropertyListNode? {
        let uid = uid(of: reference)
        guard uid != 0, uid < objects.count else { return nil }
        let object = element(at: Int(uid), of: objects)
        return isNilText(object) ? nil : object
    }

    /// Returns whether an object is the string `$null`.
    ///
    /// The marker and the characters of the object are compared as one word.
    @inline(__always)
    func isNilText(_ object: PropertyListNode) -> Bool {
        bytes.span.word(at: Int(object.offset)) & 0xFFFF_FFFF_FFFF == 0x6C6C_756E_2455
    }
}
