/// The position of an object in a ``PropertyListDocument``.
public struct PropertyListNode: Hashable, Sendable {
    /// The number of the object in the offset table.
    ///
    /// Several numbers can refer to the same object.
    public let number: UInt32
    /// The offset of the object's marker in the binary form.
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
    /// A null object, which no known encoder writes.
    case null
    /// A reference to an object of a keyed archive.
    case uid
    /// An array, or a set, which is read as an array.
    case array
    /// A dictionary, whose keys are distinct strings.
    case dictionary
}

/// The elements of an array of a ``PropertyListDocument``.
public struct PropertyListElements: Hashable, Sendable {
    /// The offset of the reference to the first element.
    @usableFromInline let start: Int
    /// The number of elements.
    public let count: Int

    @inlinable
    init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }
}

/// The members of a dictionary of a ``PropertyListDocument``.
public struct PropertyListMembers: Hashable, Sendable {
    /// The offset of the references to the keys, which are followed by the references to the values.
    @usableFromInline let start: Int
    /// The number of members.
    public let count: Int

    @inlinable
    init(start: Int, count: Int) {
        self.start = start
        self.count = count
    }
}
