import Bytes
import JSONText

/// The classes of Foundation whose encoding is known.
///
/// Source: <doc:KeyedArchives>, part C.
public enum FoundationClass: Sendable {
    case string, decimal, date, data, uuid, url, null, value, attributedString
    /// `NSNumber`, as encoders other than Foundation write it.
    case number
    case array, dictionary, set, orderedSet

    /// Returns the class with the given name, or `nil` if Foundation's encoding of it is not known.
    static func named(_ name: Span<UInt8>) -> FoundationClass? {
        // The names begin with NS. This check avoids creating a string for most other names.
        guard name.count > 4, name[0] == UInt8(ascii: "N"), name[1] == UInt8(ascii: "S") else { return nil }
        return classesByName[String(readingUTF8: name)]
    }

    private static let classesByName: [CapturedText: FoundationClass] = [
        "NSString": .string, "NSMutableString": .string, "NSNumber": .number,
        "NSDecimalNumber": .decimal, "NSDecimalNumberPlaceholder": .decimal, "NSDate": .date,
        "NSData": .data, "NSMutableData": .data, "NSUUID": .uuid, "NSURL": .url, "NSNull": .null, "NSValue": .value,
        "NSAttributedString": .attributedString, "NSMutableAttributedString": .attributedString,
        "NSArray": .array, "NSMutableArray": .array, "NSDictionary": .dictionary, "NSMutableDictionary": .dictionary,
        "NSSet": .set, "NSMutableSet": .set, "NSOrderedSet": .orderedSet, "NSMutableOrderedSet": .orderedSet,
    ]
}

/// The class of an instance, as described by its class record.
public struct KeyedClass: Sendable {
    /// The name of the class, from `$classname` in the class record.
    public let name: PropertyListNode
    /// The Foundation class whose encoding the instances use, or `nil` if their encoding is not known.
    ///
    /// This is the first known Foundation class among the class and its ancestors. The search ends at a class that is
    /// named by the caller, so such a class is not treated as a collection, even if it descends from a collection
    /// class.
    public let foundation: FoundationClass?
    /// A bit mask of the caller's class names that match the class or one of its ancestors.
    fileprivate let nameBits: UInt64

    /// Returns whether the class or an ancestor has one of the names at `position` in the caller's class names.
    public func isNamed(_ position: Int) -> Bool { nameBits >> UInt64(position) & 1 == 1 }
}

/// A cache of the class records of an archive.
struct ClassCache: Sendable {
    private static let recentEntryCount = 64
    /// The maximum number of ancestors that a class record may list.
    fileprivate static let ancestorLimit = 64
    /// The maximum number of members of a class record.
    ///
    /// Archivers write two or three.
    fileprivate static let memberLimit = 64

    fileprivate let names: [[[UInt8]]]
    private var classes: [KeyedClass] = []
    private var indices: [UInt32: Int] = [:]
    /// The errors of invalid class records, which many instances can share.
    fileprivate var errors: [UInt32: PropertyListError] = [:]
    /// The class records that were used most recently, indexed by the low bits of their UIDs.
    private var recentEntries: [(uid: UInt32, index: Int)?] = Array(repeating: nil, count: recentEntryCount)

    init(names: [[String]]) {
        precondition(names.count <= 64, "more than 64 classes")
        self.names = names.map { $0.map { Array($0.utf8) } }
    }

    fileprivate subscript(uid: UInt32) -> KeyedClass? {
        mutating get {
            let slot = Int(uid) & (Self.recentEntryCount - 1)
            if let known = recentEntries[slot], known.uid == uid { return classes[known.index] }
            guard let index = indices[uid] else { return nil }
            recentEntries[slot] = (uid, index)
            return classes[index]
        }
    }

    fileprivate mutating func insert(_ found: KeyedClass, for uid: UInt32) {
        indices[uid] = classes.count
        classes.append(found)
    }
}

extension KeyedArchive {
    /// Returns whether a class record in `$objects` has one of `names` as its class name or as an ancestor.
    ///
    /// Class records without instances are included.
    public func hasClass(named names: [String]) -> Bool {
        let names = names.map { Array($0.utf8) }
        let (nameKey, chainKey): (JSONKey, JSONKey) = ("$classname", "$classes")
        for position in 0..<objects.count {
            let record = document.element(at: position, of: objects)
            // Many objects can share one large dictionary, so searching each of them could take quadratic time.
            guard (1...ClassCache.memberLimit).contains(document.members(of: record).count) else { continue }
            if let name = document.value(of: nameKey, in: record), isText(name, among: names) { return true }
            guard let chain = document.value(of: chainKey, in: record) else { continue }
            let ancestors = document.elements(of: chain)
            for index in 0..<min(ancestors.count, ClassCache.ancestorLimit)
            where isText(document.element(at: index, of: ancestors), among: names) {
                return true
            }
        }
        return false
    }

    private func isText(_ node: PropertyListNode, among names: [[UInt8]]) -> Bool {
        names.contains { document.text(node, equals: $0) }
    }

    /// Returns the class of an instance, or `nil` if `instance` has no `$class`.
    ///
    /// - Throws: ``PropertyListError`` with the code `badClass` if `$class` does not refer to a class record.
    public mutating func classOfInstance(_ instance: PropertyListNode) throws(PropertyListError) -> KeyedClass? {
        guard let reference = member(classKey, of: instance) else { return nil }
        guard document.kind(of: reference) == .uid else {
            throw document.error(.badClass, at: reference, "a class that is no reference")
        }
        let uid = document.uid(of: reference)
        if let known = classes[uid] { return known }
        guard uid > 0, uid < objects.count else {
            throw document.error(.badClass, at: reference, "a class that is not there")
        }
        if let error = classes.errors[uid] { throw error }
        do throws(PropertyListError) {
            let found = try readClass(document.element(at: Int(uid), of: objects))
            classes.insert(found, for: uid)
            return found
        } catch {
            classes.errors[uid] = error
            throw error
        }
    }

    private func readClass(_ record: PropertyListNode) throws(PropertyListError) -> KeyedClass {
        guard let name = document.value(of: "$classname", in: record), document.kind(of: name) == .text else {
            throw document.error(.badClass, at: record, "no class record")
        }
        var names = nameBits(of: name)
        var foundation = foundationClass(name)
        // NSCountedSet descends from NSSet, but reading it as a set would lose its counts.
        let isCountedSet = document.text(name, equals: "NSCountedSet".utf8.span)
        var isDecided = names != 0 || foundation != nil || isCountedSet
        if let chain = document.value(of: "$classes", in: record) {
            let elements = document.elements(of: chain)
            guard document.kind(of: chain) == .array, elements.count <= ClassCache.ancestorLimit else {
                throw document.error(.badClass, at: record, "a class without a proper ancestry")
            }
            for position in 0..<elements.count {
                let ancestor = document.element(at: position, of: elements)
                guard document.kind(of: ancestor) == .text else { continue }
                names |= nameBits(of: ancestor)
                if !isDecided { foundation = foundationClass(ancestor) }
                isDecided = isDecided || names != 0 || foundation != nil
            }
        }
        return KeyedClass(name: name, foundation: foundation, nameBits: names)
    }

    private func nameBits(of name: PropertyListNode) -> UInt64 {
        var bits: UInt64 = 0
        for position in classes.names.indices where isText(name, among: classes.names[position]) {
            bits |= 1 << UInt64(position)
        }
        return bits
    }

    private func foundationClass(_ name: PropertyListNode) -> FoundationClass? {
        document.isUTF16(name) ? nil : .named(document.payload(of: name))
    }
}
