import JSONText
import PropertyList

/// Compares the events of one archive.
///
/// Two events are *essentially equal* if all of their members except the time are equal. Stored values are compared, so
/// `nil` does not equal an empty string.
///
/// The number of compared values is limited in proportion to the size of the archive. Their depth is limited too.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 7.3.
struct SiftEventEquality {
    /// The number of values that may still be compared.
    ///
    /// Every eight bytes of a string or of data also count as one value.
    private var allowance: Int
    private var depth = 0

    init(_ archive: borrowing SiftArchive) {
        allowance = archive.archive.document.expansionLimit
    }

    /// Returns the number of events that are essentially equal to the preceding event, or `nil` if there are too many
    /// values to compare.
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
        // Most events differ, so the members that are compared fastest come first.
        for key in [
            keys.type, keys.path, keys.userID, keys.installationID, keys.fields, keys.deviceProperties, keys.metrics,
        ] where !isIdentical(key, of: first, second, in: &archive) {
            let value = try archive.archive.object(key, of: first)
            guard try equals(value, archive.archive.object(key, of: second), in: &archive) else { return false }
        }
        for key in [keys.appState, keys.iosDeviceProperties] where !isIdentical(key, of: first, second, in: &archive) {
            let value = try unwrappedValue(key, of: first, in: &archive)
            guard try equals(value, unwrappedValue(key, of: second, in: &archive), in: &archive) else { return false }
        }
        return true
    }

    /// Returns whether two events refer to the same object for the member `key`.
    ///
    /// They often do if they have the same user and device.
    private func isIdentical(
        _ key: KeyedKey, of first: PropertyListNode, _ second: PropertyListNode, in archive: inout SiftArchive
    ) -> Bool {
        guard let left = archive.archive.member(key, of: first), let right = archive.archive.member(key, of: second),
            let object = try? archive.archive.object(left), let other = try? archive.archive.object(right)
        else { return false }
        return object == other
    }

    /// Returns the value of a member, without the wrapper that earlier SDK versions added.
    private func unwrappedValue(
        _ key: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive
    ) throws(PropertyListError) -> KeyedValue {
        let value = try archive.archive.object(key, of: event)
        guard case .instance(let wrapper, let wrapperClass) = value,
            let entries = archive.contentKey(ofWrapper: wrapperClass)
        else { return value }
        return try archive.archive.object(entries, of: wrapper)
    }

    private mutating func consumeAllowance(_ values: Int, in archive: borrowing SiftArchive) throws(PropertyListError) {
        allowance -= values
        guard allowance >= 0 else {
            throw archive.error(.budgetExceeded, at: archive.archive.document.root, "events that expand to too much")
        }
    }
}

// MARK: - Values

extension SiftEventEquality {
    /// Returns whether two values are equal by the rules of Foundation, where a Boolean can equal a number.
    private mutating func equals(
        _ left: KeyedValue, _ right: KeyedValue, in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        try consumeAllowance(1, in: archive)
        switch (left, right) {
        case (.none, .none), (.null, .null): return true
        case (.text(let first), .text(let second)): return try areStringsEqual(first, second, in: archive)
        case (.data(let first), .data(let second)):
            let document = archive.archive.document
            try consumeAllowance(document.payload(of: first).count / 8, in: archive)
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
        try consumeAllowance(document.payload(of: left).count / 8, in: archive)
        if document.kind(of: left) == document.kind(of: right) { return document.text(left, equals: right) }
        // Only one of the strings is stored as UTF-8.
        try consumeAllowance(document.payload(of: right).count / 8, in: archive)
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
            guard try element(position, of: left, equals: position, of: right, in: &archive) else { return false }
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
            guard let other = try self.position(of: position, of: left.keys, in: right.keys, &archive),
                try element(position, of: left.values, equals: other, of: right.values, in: &archive)
            else { return false }
            if other != position { isInOrder = false }
        }
        if isInOrder { return true }
        // Because keys can be repeated, each key must also be searched for in the other direction.
        for position in 0..<right.count
        where try self.position(of: position, of: right.keys, in: left.keys, &archive) == nil {
            return false
        }
        return true
    }

    /// Returns the position of a key in the other dictionary.
    ///
    /// The search starts at the position of the key in its own dictionary.
    private mutating func position(
        of position: Int, of keys: KeyedElements, in others: KeyedElements, _ archive: inout SiftArchive
    ) throws(PropertyListError) -> Int? {
        for distance in 0..<others.count {
            let other = (position + distance) % others.count
            if try element(position, of: keys, equals: other, of: others, in: &archive) { return other }
        }
        return nil
    }

    /// Returns whether two elements are equal, without reading them if they are the same object.
    private mutating func element(
        _ position: Int, of left: KeyedElements, equals other: Int, of right: KeyedElements,
        in archive: inout SiftArchive
    ) throws(PropertyListError) -> Bool {
        let (first, second) = (
            try archive.archive.element(at: position, of: left), try archive.archive.element(at: other, of: right)
        )
        try consumeAllowance(1, in: archive)
        if archive.archive.document.uid(of: first) == archive.archive.document.uid(of: second) { return true }
        let value = try archive.archive.value(of: first)
        return try equals(value, archive.archive.value(of: second), in: &archive)
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

    /// The value of a Boolean, an integer, or a floating-point number without a fraction.
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
