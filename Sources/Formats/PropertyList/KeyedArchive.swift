import JSONText

/// An archive of `NSKeyedArchiver`: its object graph read in place, without making an instance of any class.
///
/// What a graph holds is reached step by step: ``root()`` gives a value, `member(_:of:)`, ``elements(of:)`` and
/// ``pairs(of:)`` lead on. Nothing here follows a graph without end, but a reader that descends by itself has to ask
/// ``expansion(of:)`` first whether the value contains itself, how deep it is, and how many values come out.
///
/// The archive remembers what it finds out (classes, keys, expansions), so most functions change it. A copy is cheap as
/// long as it is only read.
///
/// Source: <doc:KeyedArchives>, parts B to D.
public struct KeyedArchive: Sendable {
    /// The property list that holds the archive.
    public let document: PropertyListDocument
    /// The dictionary `$top`: the values that were encoded under names, mostly one, `root`.
    public let top: PropertyListMembers
    /// The elements of `$objects`, which UIDs count.
    public let objects: PropertyListElements

    @usableFromInline var keys = KeyCache()
    var classes: ClassCache
    var expansions: ExpansionMemo
    /// The elements that are stored as separate members, `NS.object.0` and so on.
    @usableFromInline var numberedNodes: [PropertyListNode] = []
    /// The ranges of `numberedNodes`, by the prefix of their keys and the number of the object that contains them.
    var numberedElements: [String: [UInt32: KeyedElements]] = [:]

    /// Opens an archive.
    /// - Parameter classNames: names of classes that the caller knows, at most 64: instances of these, and of classes
    ///   that descend from them, are told by ``KeyedClass/isNamed(_:)`` with the position in this list.
    /// - Throws: ``PropertyListError`` with a code of part B: `not-keyed-archive`, `bad-archive-version`,
    ///   `bad-archive-structure`.
    public init(_ document: PropertyListDocument, classNames: [String] = []) throws(PropertyListError) {
        let root = document.root
        guard let archiver = document.value(of: "$archiver", in: root),
            document.text(archiver, equals: "NSKeyedArchiver".utf8Span.span)
        else {
            throw PropertyListError(.notKeyedArchive, at: document.offset(of: root), "no archive of NSKeyedArchiver")
        }
        guard let version = document.value(of: "$version", in: root), document.kind(of: version) == .integer,
            document.integer(of: version).unsigned == 100_000
        else {
            throw PropertyListError(
                .badArchiveVersion, at: document.offset(of: root), "an archive of another version than 100000")
        }
        guard let top = document.value(of: "$top", in: root), document.kind(of: top) == .dictionary,
            let objects = document.value(of: "$objects", in: root), document.kind(of: objects) == .array
        else {
            throw PropertyListError(
                .badArchiveStructure, at: document.offset(of: root), "an archive without $top or $objects")
        }
        self.top = document.members(of: top)
        self.objects = document.elements(of: objects)
        guard self.objects.count > 0,
            document.text(document.element(at: 0, of: self.objects), equals: Self.nilText.utf8Span.span)
        else {
            throw PropertyListError(
                .badArchiveStructure, at: document.offset(of: objects), "the objects do not begin with $null")
        }
        self.document = document
        classes = ClassCache(names: classNames)
        expansions = ExpansionMemo(document.layout)
    }

    static let nilText = "$null"

    /// The object encoded as `root`.
    /// - Throws: `missing-root`, `bad-archive-structure`, `uid-out-of-range`.
    public func root() throws(PropertyListError) -> PropertyListNode {
        for position in 0..<top.count where document.text(document.key(at: position, of: top), equals: "root".utf8.span)
        {
            let reference = document.value(at: position, of: top)
            guard document.kind(of: reference) == .uid else {
                throw PropertyListError(
                    .badArchiveStructure, at: document.offset(of: reference), "the root is no reference")
            }
            guard let root = try object(reference) else {
                throw PropertyListError(.missingRoot, at: document.offset(of: reference), "the root is nil")
            }
            return root
        }
        throw PropertyListError(.missingRoot, at: document.offset(of: document.root), "$top has no root")
    }

    /// The object that a UID names; nil for nil (UID 0, or the text `$null`).
    /// - Throws: `uid-out-of-range`; `bad-value` if the reference is no UID.
    @inlinable
    @inline(__always)
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

    /// Not a method of an archive, which would be copied for it in front of each look.
    @usableFromInline
    static func badReference(isUID: Bool, _ uid: UInt32, of count: Int, at offset: Int) -> PropertyListError {
        guard isUID else { return PropertyListError(.badValue, at: offset, "a value where a reference has to be") }
        return PropertyListError(.uidOutOfRange, at: offset, "UID \(uid) of \(count) objects")
    }
}
