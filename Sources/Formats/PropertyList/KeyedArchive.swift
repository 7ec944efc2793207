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

    @usableFromInline var keys = KeyCache()
    var classes: ClassCache
    var expansions: ExpansionMemo
    /// The elements of collections that store each element as a member, such as `NS.object.0`.
    @usableFromInline var numberedNodes: [PropertyListNode] = []
    /// The range of each collection in `numberedNodes`, by the prefix of its keys and by its object number.
    var numberedElements: [CapturedText: [UInt32: KeyedElements]] = [:]

    /// Opens an archive.
    ///
    /// - Parameters:
    ///   - document: The property list that holds the archive.
    ///   - classNames: At most 64 names of classes. ``KeyedClass/isNamed(_:)`` identifies their instances, and the
    ///     instances of their subclasses, by the position in this list.
    /// - Throws: ``PropertyListError`` with the code `notKeyedArchive`, `badArchiveVersion` or `badArchiveStructure`.
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

    /// Returns the object encoded as `root`.
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

    /// Returns the object that a UID refers to, or `nil` for UID 0 and for the string `$null`.
    ///
    /// - Throws: ``PropertyListError`` with the code `uidOutOfRange`, or `badValue` if `reference` is not a UID.
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

    // This is a static method because a method of the archive would copy the archive before each call.
    @usableFromInline
    static func badReference(isUID: Bool, _ uid: UInt32, of count: Int, at offset: Int) -> PropertyListError {
        guard isUID else { return PropertyListError(.badValue, at: offset, "a value where a reference has to be") }
        return PropertyListError(.uidOutOfRange, at: offset, "UID \(uid) of \(count) objects")
    }
}
