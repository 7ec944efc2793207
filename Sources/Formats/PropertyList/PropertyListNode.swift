/// A place in a ``PropertyListDocument``.
public struct PropertyListNode: Hashable, Sendable {
    /// The number of the object, for tables about objects. Two numbers may stand for one place, and equal scalars may or
    /// may not be one object.
    public let number: UInt32
    /// Where the object's marker is in the binary form.
    @usableFromInline let offset: UInt32

    @inlinable
    init(number: UInt32, offset: UInt32) {
        self.number = number
        self.offset = offset
    }
}

/// The kind of a value.
public enum PropertyListKind: Sendable {
    case boolean, integer, real, date, data, text
    /// A null of the container; no encoder writes it.
    case null
    /// A reference into the objects of a keyed archive.
    case uid
    /// An array; a set of the container reads as one.
    case array
    /// A dictionary, whose keys are texts that differ from each other.
    case dictionary
}

/// The elements of an array of a ``PropertyListDocument``.
public struct PropertyListElements: Hashable, Sendable {
    /// Where the references begin.
    @usableFromInline let start: Int
    /// How many there are.
    public let count: Int

    @inlinable
    init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }
}

/// The members of a dictionary of a ``PropertyListDocument``.
public struct PropertyListMembers: Hashable, Sendable {
    /// Where the references to the keys begin; those to the values follow.
    @usableFromInline let start: Int
    /// How many there are.
    public let count: Int

    @inlinable
    init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }
}
