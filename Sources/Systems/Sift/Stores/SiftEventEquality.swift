import Bytes
import JSONText
import PropertyList

/// A comparison of the events of one archive.
///
/// Two events are *essentially equal* if all of their members except the time are equal. Stored values are compared, so
/// `nil` does not equal an empty string.
///
/// The number of compared values is limited in proportion to the size of the archive. Their depth is limited too.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 7.3.
struct SiftEventEquality {
    /// The budget for compared values.
    ///
    /// Every eight bytes of a string or of data also count as one value.
    private(set) var budget: WorkBudget
    private var depth = 0

    init(_ archive: borrowing SiftArchive) {
        budget = WorkBudget(nodes: archive.archive.document.expansionLimit)
    }

    /// Returns the number of events that are essentially equal to the preceding event, or `nil` if there are too many
    /// values to compare.
    mutating func repetitionCount(in list: KeyedElements, of archive: inout SiftArchive) -> Int? {
        var count = 0
        var previous: PropertyListNode?
        for position in 0..<list.count {
            let stored = try? archive.archive.element(at: position, of: list)
            let current = stored.flatMap { try? archive.instance(ofEvent: $0).node }
            defer { previous = current }
            guard let previous, let current else { continue }
            depth = 0
            do throws(PropertyListError) {
                if try areEventsEqual(previous, current, in: &archive) { count += 1 }
            } catch {
                guard error.code != .budgetExceeded else { return nil }
            }
        }
        return count
    }

    /// Returns whether two events are essentially equal.
    mutating func areEventsEqual(
        _ first: PropertyListNode, _ second: PropertyListNode, in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        if first == second { return true }
        let keys = archive.keys
        // Most events differ, so the members that are compared fastest come first.
        for key in [
            keys.type, keys.path, keys.userID, keys.installationID, keys.fields, keys.deviceProperties, keys.metrics,
        ] where !haveSameObject(forKey: key, first, second, in: &archive) {
            let value = try archive.archive.object(key, of: first)
            guard try areValuesEqual(value, archive.archive.object(key, of: second), in: &archive) else { return false }
        }
        for key in [keys.appState, keys.iosDeviceProperties]
        where !haveSameObject(forKey: key, first, second, in: &archive) {
            let value = try unwrappedValue(forKey: key, of: first, in: &archive)
            guard try areValuesEqual(value, unwrappedValue(forKey: key, of: second, in: &archive), in: &archive) else {
                return false
            }
        }
        return true
    }

    /// Returns whether two events refer to the same object for the member `key`.
    ///
    /// Events with the same user and device often share objects.
    private func haveSameObject(
        forKey key: KeyedKey, _ first: PropertyListNode, _ second: PropertyListNode, in archive: inout SiftArchive
    ) -> Bool {
        guard let left = archive.archive.member(key, of: first), let right = archive.archive.member(key, of: second),
            let object = try? archive.archive.object(left), let other = try? archive.archive.object(right)
        else { return false }
        return object == other
    }

    /// Returns the value of a member, without the wrapper that earlier SDK versions added.
    private func unwrappedValue(
        forKey key: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive
    ) throws(PropertyListError) -> KeyedValue {
        let value = try archive.archive.object(key, of: event)
        guard case .instance(let wrapper, let wrapperClass) = value,
            let entries = archive.contentKey(ofWrapper: wrapperClass)
        else { return value }
        return try archive.archive.object(entries, of: wrapper)
    }

    private mutating func countComparedValues(_ count: Int, in archive: borrowing SiftArchive) throws(PropertyListError)
    {
        guard budget.charge(nodes: count) else {
            throw archive.error(.budgetExceeded, at: archive.archive.document.root, "events that expand to too much")
        }
    }
}

// MARK: - Values

extension SiftEventEquality {
    /// Returns whether two values are equal by the rules of Foundation, by which a Boolean can equal a number.
    private mutating func areValuesEqual(
        _ left: KeyedValue, _ right: KeyedValue, in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        try countComparedValues(1, in: archive)
        switch (left, right) {
        case (.none, .none), (.null, .null): return true
        case (.text(let first), .text(let second)): return try areStringsEqual(first, second, in: archive)
        case (.data(let first), .data(let second)):
            let document = archive.archive.document
            try countComparedValues(document.payload(of: first).count / 8, in: archive)
            return document.payload(of: first).equals(document.payload(of: second))
        case (.date(let first), .date(let second)): return first == second || first.isNaN && second.isNaN
        case (.array(let first, let kind), .array(let second, let otherKind)):
            guard kind == otherKind else { return false }
            return try areElementsEqual(first, second, in: &archive)
        case (.dictionary(let first), .dictionary(let second)): return try arePairsEqual(first, second, in: &archive)
        case (.instance(let first, _), .instance(let second, _)),
            (.unrepresentable(let first), .unrepresentable(let second)):
            return first == second
        default: return left.equalsNumber(right)
        }
    }

    private mutating func areStringsEqual(
        _ left: PropertyListNode, _ right: PropertyListNode, in archive: borrowing SiftArchive
    ) throws(PropertyListError) -> Bool {
        if left == right { return true }
        let document = archive.archive.document
        try countComparedValues(document.payload(of: left).count / 8, in: archive)
        if document.kind(of: left) == document.kind(of: right) { return document.text(left, equals: right) }
        // One string is stored as a property list string, and the other string as UTF-8 data.
        try countComparedValues(document.payload(of: right).count / 8, in: archive)
        var (first, second) = ([UInt8](), [UInt8]())
        document.appendUTF8(of: left, to: &first)
        document.appendUTF8(of: right, to: &second)
        return first == second
    }

    private mutating func areElementsEqual(
        _ left: KeyedElements, _ right: KeyedElements, in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        if left == right { return true }
        guard left.count == right.count else { return false }
        try enterLevel(in: archive)
        defer { depth -= 1 }
        for position in 0..<left.count {
            guard try isElement(at: position, of: left, equalToElementAt: position, of: right, in: &archive) else {
                return false
            }
        }
        return true
    }

    /// Returns whether two dictionaries are equal.
    ///
    /// Each key is first compared with the key at the same position, because the order is usually the same.
    private mutating func arePairsEqual(
        _ left: KeyedPairs, _ right: KeyedPairs, in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        if left == right { return true }
        guard left.count == right.count else { return false }
        try enterLevel(in: archive)
        defer { depth -= 1 }
        var isInOrder = true
        for position in 0..<left.count {
            guard let other = try self.position(ofKeyAt: position, of: left.keys, in: right.keys, &archive),
                try isElement(at: position, of: left.values, equalToElementAt: other, of: right.values, in: &archive)
            else { return false }
            if other != position { isInOrder = false }
        }
        if isInOrder { return true }
        // Because keys can be repeated, each key must also be searched for in the other direction.
        for position in 0..<right.count
        where try self.position(ofKeyAt: position, of: right.keys, in: left.keys, &archive) == nil {
            return false
        }
        return true
    }

    /// Returns the position in `otherKeys` of a key that equals the key at `position` of `keys`.
    ///
    /// The search starts at `position`. Returns `nil` if there is no such key.
    private mutating func position(
        ofKeyAt position: Int, of keys: KeyedElements, in otherKeys: KeyedElements, _ archive: inout SiftArchive
    ) throws(PropertyListError) -> Int? {
        for distance in 0..<otherKeys.count {
            let other = (position + distance) % otherKeys.count
            if try isElement(at: position, of: keys, equalToElementAt: other, of: otherKeys, in: &archive) {
                return other
            }
        }
        return nil
    }

    /// Returns whether two elements are equal, without reading them if they are the same object.
    private mutating func isElement(
        at position: Int, of left: KeyedElements, equalToElementAt other: Int, of right: KeyedElements,
        in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        let (first, second) = (
            try archive.archive.element(at: position, of: left), try archive.archive.element(at: other, of: right)
        )
        try countComparedValues(1, in: archive)
        if archive.archive.document.uid(of: first) == archive.archive.document.uid(of: second) { return true }
        let value = try archive.archive.value(of: first)
        return try areValuesEqual(value, archive.archive.value(of: second), in: &archive)
    }

    private mutating func enterLevel(in archive: borrowing SiftArchive) throws(PropertyListError) {
        depth += 1
        guard depth <= Expansion.allowedDepth else {
            throw archive.error(
                .tooDeep, at: archive.archive.document.root, "more than \(Expansion.allowedDepth) levels")
        }
    }
}

extension KeyedValue {
    /// Returns whether both values are numbers with the same value, regardless of their types.
    fileprivate func equalsNumber(_ other: KeyedValue) -> Bool {
        if let integer, let otherInteger = other.integer { return integer == otherInteger }
        guard let real, let otherReal = other.real else { return false }
        return real == otherReal || real.isNaN && otherReal.isNaN
    }

    /// The value of a Boolean, an integer, or a floating-point number without a fraction, or `nil` for any other value.
    private var integer: Int128? {
        switch self {
        case .boolean(let value): value ? 1 : 0
        case .integer(let value): value.signed.map { Int128($0) } ?? value.unsigned.map { Int128($0) }
        case .real(let value): Int128(exactly: value)
        default: nil
        }
    }

    private var real: Double? {
        if case .real(let value) = self { value } else { nil }
    }
}
