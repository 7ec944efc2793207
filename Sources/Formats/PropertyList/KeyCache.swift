import JSONText

/// A key for fast lookup of members, created by ``KeyedArchive/key(_:)``.
public struct KeyedKey: Hashable, Sendable {
    @usableFromInline let index: Int
}

/// A cache of the object number and the position at which each key was last found.
///
/// Writers usually store the string of a key once and encode all instances of a class alike, so the next instance has
/// the key with the same number at the same position. If not, all keys are searched, first by number and then by
/// string.
@usableFromInline
struct KeyCache: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        let utf8: [UInt8]
        /// The object number of the key when it was last found.
        @usableFromInline var number: UInt32?
        @usableFromInline var position = 0
    }

    /// The keys that Foundation's classes use.
    ///
    /// They are the first entries of the cache, so that their indices are constants.
    private static let foundation = [
        "$class", "NS.objects", "NS.keys", "NS.string", "NS.bytes", "NS.data", "NS.time", "NSString", "NS.number",
        "NS.intval", "NS.dblval", "NS.boolval", "NS.base", "NS.relative", "NS.uuidbytes",
    ]

    @usableFromInline var entries = foundation.map { Entry(utf8: Array($0.utf8)) }
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
    @inlinable
    @inline(__always)
    public mutating func member(_ key: KeyedKey, of instance: PropertyListNode) -> PropertyListNode? {
        member(key, of: document.members(of: instance))
    }

    /// Returns the stored value for a key among `members`, or `nil` if the key is absent.
    @inlinable
    @inline(__always)
    public mutating func member(_ key: KeyedKey, of members: PropertyListMembers) -> PropertyListNode? {
        let position = keys.entries[key.index].position
        if position < members.count,
            document.keyNumber(at: position, of: members) == keys.entries[key.index].number
        {
            return document.value(at: position, of: members)
        }
        return search(key, in: members)
    }

    @usableFromInline
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
