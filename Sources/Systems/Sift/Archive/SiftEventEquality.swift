import JSONText
import PropertyList

/// Compares events of one archive. Two events are *essentially equal* if they are equal in all but their time.
///
/// The stored values are compared, not the entries of a list request: nil equals only nil, and neither equals an empty text.
/// All comparisons together look at not many more values than the archive has, and no value is followed deeper than an event
/// may be.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 7.3.
struct SiftEventEquality {
    /// How many more values may be looked at; eight bytes count as one.
    private var allowance: Int
    private var depth = 0

    init(_ archive: borrowing SiftArchive) {
        allowance = archive.archive.document.expansionLimit
    }

    /// How many events of a list are essentially equal to the one before them; nil if that takes too long to find out. An
    /// event that cannot be read is equal to none.
    mutating func repetitions(in list: KeyedElements, of archive: inout SiftArchive) -> Int? {
        var count = 0
        var previous: PropertyListNode?
        for position in 0..<list.count {
            let stored = try? archive.archive.element(at: position, of: list)
            let current = stored.flatMap { try? archive.instance(ofEvent: $0).node }
            defer { previous = current }
            guard let previous, let current else { continue }
            depth = 0
            do throws(PropertyListError) {
                if try areEqual(previous, current, in: &archive) { count += 1 }
            } catch {
                guard error.code != .budgetExceeded else { return nil }
            }
        }
        return count
    }

    /// Returns whether two events are essentially equal.
    mutating func areEqual(
        _ first: PropertyListNode, _ second: PropertyListNode, in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        if first == second { return true }
        let keys = archive.keys
        // What is quick to compare comes first, for most events differ.
        for key in [
            keys.type, keys.path, keys.userID, keys.installationID, keys.fields, keys.deviceProperties, keys.metrics,
        ] where !isSame(key, of: first, second, in: &archive) {
            let value = try archive.archive.object(key, of: first)
            guard try equals(value, archive.archive.object(key, of: second), in: &archive) else { return false }
        }
        for key in [keys.appState, keys.iosDeviceProperties] where !isSame(key, of: first, second, in: &archive) {
            let value = try state(key, of: first, in: &archive)
            guard try equals(value, state(key, of: second, in: &archive), in: &archive) else { return false }
        }
        return true
    }

    /// Whether a member of two events is one and the same object, as those of one user and one device mostly are.
    private func isSame(
        _ key: KeyedKey, of first: PropertyListNode, _ second: PropertyListNode, in archive: inout SiftArchive
    ) -> Bool {
        guard let left = archive.archive.member(key, of: first), let right = archive.archive.member(key, of: second),
            let object = try? archive.archive.object(left), let other = try? archive.archive.object(right)
        else { return false }
        return object == other
    }

    /// A structured value, out of its wrapper.
    private func state(
        _ key: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive
    ) throws(PropertyListError) -> KeyedValue {
        let value = try archive.archive.object(key, of: event)
        guard case .instance(let wrapper, let found) = value, let entries = archive.wrappedKey(of: found) else {
            return value
        }
        return try archive.archive.object(entries, of: wrapper)
    }

    private mutating func spend(_ values: Int, in archive: borrowing SiftArchive) throws(PropertyListError) {
        allowance -= values
        guard allowance >= 0 else {
            throw archive.error(.budgetExceeded, at: archive.archive.document.root, "events that expand to too much")
        }
    }
}

// MARK: - Values

extension SiftEventEquality {
    /// Whether two values are equal as Foundation has it: numbers by value, also truth values among them, and of instances
    /// of other classes each only to itself.
    private mutating func equals(
        _ left: KeyedValue, _ right: KeyedValue, in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        try spend(1, in: archive)
        switch (left, right) {
        case (.none, .none), (.null, .null): return true
        case (.text(let first), .text(let second)): return try texts(first, second, in: archive)
        case (.data(let first), .data(let second)):
            let document = archive.archive.document
            try spend(document.payload(of: first).count / 8, in: archive)
            return document.payload(of: first).equals(document.payload(of: second))
        case (.date(let first), .date(let second)): return first == second || first.isNaN && second.isNaN
        case (.array(let first, let kind), .array(let second, let otherKind)):
            guard kind == otherKind else { return false }
            return try elements(first, second, in: &archive)
        case (.dictionary(let first), .dictionary(let second)): return try pairs(first, second, in: &archive)
        case (.instance(let first, _), .instance(let second, _)),
            (.unrepresentable(let first), .unrepresentable(let second)):
            return first == second
        default:
            return left.isSameNumber(as: right)
        }
    }

    private mutating func texts(
        _ left: PropertyListNode, _ right: PropertyListNode, in archive: borrowing SiftArchive
    ) throws(PropertyListError) -> Bool {
        if left == right { return true }
        let document = archive.archive.document
        try spend(document.payload(of: left).count / 8, in: archive)
        guard document.kind(of: left) != document.kind(of: right) else {
            return document.text(left, equals: right)
        }
        // Only one of them is stored as UTF-8.
        try spend(document.payload(of: right).count / 8, in: archive)
        var (first, second) = ([UInt8](), [UInt8]())
        document.appendUTF8(of: left, to: &first)
        document.appendUTF8(of: right, to: &second)
        return first == second
    }

    private mutating func elements(
        _ left: KeyedElements, _ right: KeyedElements, in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        if left == right { return true }
        guard left.count == right.count else { return false }
        try enter(in: archive)
        defer { depth -= 1 }
        for position in 0..<left.count {
            guard try element(position, of: left, equals: position, of: right, in: &archive) else { return false }
        }
        return true
    }

    /// Dictionaries mostly have their keys in the same order; where they do not, each is looked for.
    private mutating func pairs(
        _ left: KeyedPairs, _ right: KeyedPairs, in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        if left == right { return true }
        guard left.count == right.count else { return false }
        try enter(in: archive)
        defer { depth -= 1 }
        var isInOrder = true
        for position in 0..<left.count {
            guard let place = try place(of: position, of: left.keys, in: right.keys, &archive),
                try element(position, of: left.values, equals: place, of: right.values, in: &archive)
            else { return false }
            if place != position { isInOrder = false }
        }
        if isInOrder { return true }
        // A key that is stored twice is one key: none of the others may be missing for it.
        for position in 0..<right.count where try place(of: position, of: right.keys, in: left.keys, &archive) == nil {
            return false
        }
        return true
    }

    /// The position of a key among the keys of the other dictionary. The search begins at its own position.
    private mutating func place(
        of position: Int, of keys: KeyedElements, in others: KeyedElements, _ archive: inout SiftArchive
    ) throws(PropertyListError) -> Int? {
        for distance in 0..<others.count {
            let place = (position + distance) % others.count
            if try element(position, of: keys, equals: place, of: others, in: &archive) { return place }
        }
        return nil
    }

    /// Whether an element equals another one; the same object does so without being read.
    private mutating func element(
        _ position: Int, of left: KeyedElements, equals other: Int, of right: KeyedElements,
        in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        let (first, second) = (
            try archive.archive.element(at: position, of: left), try archive.archive.element(at: other, of: right)
        )
        try spend(1, in: archive)
        if archive.archive.document.uid(of: first) == archive.archive.document.uid(of: second) { return true }
        let value = try archive.archive.value(of: first)
        return try equals(value, archive.archive.value(of: second), in: &archive)
    }

    private mutating func enter(in archive: borrowing SiftArchive) throws(PropertyListError) {
        depth += 1
        guard depth <= Expansion.allowedDepth else {
            throw archive.error(
                .tooDeep, at: archive.archive.document.root, "more than \(Expansion.allowedDepth) levels")
        }
    }
}

extension KeyedValue {
    /// Whether both are numbers, of the same value whatever they are stored as.
    fileprivate func isSameNumber(as other: KeyedValue) -> Bool {
        if let integer, let otherInteger = other.integer { return integer == otherInteger }
        guard let real, let otherReal = other.real else { return false }
        return real == otherReal || real.isNaN && otherReal.isNaN
    }

    /// The value of a number that has no fraction.
    private var integer: Int128? {
        switch self {
        case .boolean(let value): value ? 1 : 0
        case .integer(let value): value.signed.map { Int128($0) } ?? value.unsigned.map { Int128($0) }
        case .real(let value): Int128(exactly: value)
        default: nil
        }
    }

    /// The value of a number that may have one.
    private var real: Double? {
        if case .real(let value) = self { value } else { nil }
    }
}
