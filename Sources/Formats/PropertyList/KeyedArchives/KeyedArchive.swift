import Bytes
import JSONText

/// The object graph of an archive of `NSKeyedArchiver`, read in place without instantiating any class.
///
/// Start with ``root()``, and follow the graph with `member(_:of:)`, ``elements(of:)`` and ``pairs(of:)``. A recursive
/// reader has to call ``expansion(of:)`` first, which rejects values that contain themselves or are too deep, and
/// counts the values in the expanded graph.
///
/// Most methods are mutating, because the archive caches classes, keys and expansions. A copy is cheap if it is only
/// read.
///
/// Source: <doc:KeyedArchives>, parts B to D.
public struct KeyedArchive: Sendable {
    /// The property list that holds the archive.
    public let document: PropertyListDocument
    /// The members of `$top`: the values that were encoded under names, usually only `root`.
    public let top: PropertyListMembers
    /// The elements of `$objects`, to which UIDs refer by index.
    public let objects: PropertyListElements

    /// The members that were searched and the bytes that were converted because of instances so far.
    public internal(set) var work = WorkBudget()

    var keys = KeyCache()
    var classes: ClassCache
    var expansions: ExpansionMemo
    /// The elements of collections that store each element as a member, such as `NS.object.0`.
    var numberedNodes: [PropertyListNode] = []
    /// The range of each collection in `numberedNodes`, by the prefix of its keys and by its object number.
    var numberedElements: [CapturedText: [UInt32: KeyedElements]] = [:]

    /// Opens an archive.
    ///
    /// - Parameters:
    ///   - document: The property list that holds the archive.
    ///   - classNames: The names of at most 64 classes, each of which can have several names.
    ///     ``KeyedClass/isNamed(_:)`` identifies their instances, and the instances of their subclasses, by the position
    ///     in this list.
    /// - Throws: ``PropertyListError`` with the code `notKeyedArchive`, `badArchiveVersion` or `badArchiveStructure`.
    public init(_ document: PropertyListDocument, classNames: [[String]] = []) throws(PropertyListError) {
        let root = document.root
        guard let archiver = document.value(of: "$archiver", in: root),
            document.text(archiver, equals: "NSKeyedArchiver".utf8Span.span)
        else { throw document.error(.notKeyedArchive, at: root, "no archive of NSKeyedArchiver") }
        guard let version = document.value(of: "$version", in: root), document.kind(of: version) == .integer,
            document.integer(of: version).unsigned == 100_000
        else { throw document.error(.badArchiveVersion, at: root, "an archive of another version than 100000") }
        guard let top = document.value(of: "$top", in: root), document.kind(of: top) == .dictionary,
            let objects = document.value(of: "$objects", in: root), document.kind(of: objects) == .array
        else { throw document.error(.badArchiveStructure, at: root, "an archive without $top or $objects") }
        self.top = document.members(of: top)
        self.objects = document.elements(of: objects)
        guard self.objects.count > 0,
            document.text(document.element(at: 0, of: self.objects), equals: Self.nilText.utf8Span.span)
        else { throw document.error(.badArchiveStructure, at: objects, "the objects do not begin with $null") }
        self.document = document
        classes = ClassCache(names: classNames)
        expansions = ExpansionMemo(document.layout)
    }

    private static let nilText = "$null"

    /// Returns the object encoded as `root`.
    public func root() throws(PropertyListError) -> PropertyListNode {
        for position in 0..<top.count where document.text(document.key(at: position, of: top), equals: "root".utf8.span)
        {
            let reference = document.value(at: position, of: top)
            guard document.kind(of: reference) == .uid else {
                throw document.error(.badArchiveStructure, at: reference, "the root is no reference")
            }
            guard let root = try object(reference) else {
                throw document.error(.missingRoot, at: reference, "the root is nil")
            }
            return root
        }
        throw document.error(.missingRoot, at: document.root, "$top has no root")
    }

    /// Returns the object that a UID refers to, or `nil` for UID 0 and for the string `$null`.
    ///
    /// - Throws: ``PropertyListError`` with the code `uidOutOfRange`, or `badValue` if `reference` is not a UID.
    public func object(_ reference: PropertyListNode) throws(PropertyListError) -> PropertyListNode? {
        let uid = document.uid(of: reference)
        let isUID = document.marker(of: reference) >> 4 == 8
        guard isUID, uid < objects.count else {
            throw Self.badReference(isUID: isUID, uid, of: objects.count, at: document.offset(of: reference))
        }
        guard uid != 0 else { return nil }
        let object = document.element(at: Int(uid), of: objects)
        return document.isNilText(object) ? nil : object
    }

    // This is a static method because a method of the archive would copy the archive before each call.
    static func badReference(isUID: Bool, _ uid: UInt32, of count: Int, at offset: Int) -> PropertyListError {
        guard isUID else { return PropertyListError(.badValue, at: offset, "a value where a reference has to be") }
        return PropertyListError(.uidOutOfRange, at: offset, "UID \(uid) of \(count.counted("object"))")
    }
}

/// A key for fast lookup of members, created by ``KeyedArchive/key(_:)``.
public struct KeyedKey: Hashable, Sendable {
    let index: Int
}

/// A cache of the object number and the position at which each key was last found.
///
/// Writers usually store the string of a key once and encode all instances of a class alike, so the next instance has
/// the key with the same number at the same position. If not, all keys are searched, first by number and then by
/// string.
struct KeyCache: Sendable {
    struct Entry: Sendable {
        let utf8: [UInt8]
        /// The object number of the key when it was last found.
        var number: UInt32?
        var position = 0
    }

    /// The keys that Foundation's classes use.
    ///
    /// They are the first entries of the cache, so that their indices are constants.
    private static let foundation = [
        "$class", "NS.objects", "NS.keys", "NS.string", "NS.bytes", "NS.data", "NS.time", "NSString", "NS.number",
        "NS.intval", "NS.dblval", "NS.boolval", "NS.base", "NS.relative", "NS.uuidbytes",
    ]

    var entries = foundation.map { Entry(utf8: Array($0.utf8)) }
    /// The results of searches in large instances, which many references can share.
    fileprivate var searches: [Search: Int?] = [:]

    /// The maximum number of members of an instance that is searched again.
    fileprivate static let repeatedSearchLimit = 64

    fileprivate struct Search: Hashable, Sendable {
        let members: PropertyListMembers
        let key: Int
    }
}

extension KeyedArchive {
    var classKey: KeyedKey { KeyedKey(index: 0) }
    var objectsKey: KeyedKey { KeyedKey(index: 1) }
    var keysKey: KeyedKey { KeyedKey(index: 2) }
    var stringKey: KeyedKey { KeyedKey(index: 3) }
    var bytesKey: KeyedKey { KeyedKey(index: 4) }
    var dataKey: KeyedKey { KeyedKey(index: 5) }
    var timeKey: KeyedKey { KeyedKey(index: 6) }
    var attributedKey: KeyedKey { KeyedKey(index: 7) }
    var numberKeys: [KeyedKey] { (8...11).map { KeyedKey(index: $0) } }
    var baseKey: KeyedKey { KeyedKey(index: 12) }
    var relativeKey: KeyedKey { KeyedKey(index: 13) }
    var uuidKey: KeyedKey { KeyedKey(index: 14) }

    /// Returns the key for fast lookup of members named `text`.
    public mutating func key(_ text: String) -> KeyedKey {
        let utf8 = Array(text.utf8)
        if let known = keys.entries.firstIndex(where: { $0.utf8 == utf8 }) { return KeyedKey(index: known) }
        keys.entries.append(KeyCache.Entry(utf8: utf8))
        return KeyedKey(index: keys.entries.count - 1)
    }

    /// Returns the stored value of a member of an instance: a UID, an inline scalar, or an inline array of UIDs.
    ///
    /// Returns `nil` if the member is absent or `instance` is not a dictionary.
    public mutating func member(_ key: KeyedKey, of instance: PropertyListNode) -> PropertyListNode? {
        member(key, of: document.members(of: instance))
    }

    /// Returns the stored value for a key among `members`, or `nil` if the key is absent.
    public mutating func member(_ key: KeyedKey, of members: PropertyListMembers) -> PropertyListNode? {
        let position = keys.entries[key.index].position
        if position < members.count,
            document.keyNumber(at: position, of: members) == keys.entries[key.index].number
        {
            return document.value(at: position, of: members)
        }
        return search(key, in: members)
    }

    mutating func search(_ key: KeyedKey, in members: PropertyListMembers) -> PropertyListNode? {
        guard members.count > KeyCache.repeatedSearchLimit else {
            return position(of: key, in: members).map { document.value(at: $0, of: members) }
        }
        let search = KeyCache.Search(members: members, key: key.index)
        let position: Int?
        if let known = keys.searches[search] {
            position = known
        } else {
            position = self.position(of: key, in: members)
            keys.searches.updateValue(position, forKey: search)
        }
        return position.map { document.value(at: $0, of: members) }
    }

    /// Searches for a key, first by number and then by string, and returns its position.
    private mutating func position(of key: KeyedKey, in members: PropertyListMembers) -> Int? {
        work.charge(nodes: members.count)
        if let number = keys.entries[key.index].number {
            for position in 0..<members.count where document.keyNumber(at: position, of: members) == number {
                keys.entries[key.index].position = position
                return position
            }
        }
        for position in 0..<members.count {
            let stored = document.key(at: position, of: members)
            guard document.text(stored, equals: keys.entries[key.index].utf8) else { continue }
            keys.entries[key.index].number = stored.number
            keys.entries[key.index].position = position
            return position
        }
        return nil
    }
}
