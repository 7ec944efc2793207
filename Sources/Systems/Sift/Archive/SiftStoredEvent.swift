import PropertyList

/// An event as a list stores it: its members are references that were not followed yet.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 4.
struct SiftStoredEvent {
    let node: PropertyListNode
    let found: KeyedClass
    /// Milliseconds since 1970, modulo 2^64.
    let time: UInt64
}

/// A structured value of an event, without the wrapper that earlier SDKs put around it.
enum SiftState {
    case absent
    /// A wrapper around nothing.
    case empty(wrapper: KeyedClass)
    case dictionary(KeyedPairs, wrapper: KeyedClass?)
    case other
}

extension SiftArchive {
    /// The event that an element of a list is.
    /// - Throws: `wrong-class` for anything else, `bad-value` for a time that is no number, and what reading it throws.
    mutating func event(_ stored: PropertyListNode) throws(PropertyListError) -> SiftStoredEvent {
        let (node, found) = try instance(ofEvent: stored)
        return SiftStoredEvent(node: node, found: found, time: try time(of: node))
    }

    /// Returns the instance that an element of a list is.
    /// - Throws: `wrong-class` if the element is no event, and what reading it throws.
    mutating func instance(
        ofEvent stored: PropertyListNode
    ) throws(PropertyListError) -> (node: PropertyListNode, found: KeyedClass) {
        guard case .instance(let node, let found) = try archive.value(of: stored),
            found.isNamed(.siftEvent) || found.isNamed(.sfEvent)
        else { throw error(.wrongClass, at: stored, "an element that is no event") }
        return (node, found)
    }

    /// The time of an event.
    /// - Throws: `bad-value` for anything but a number.
    private mutating func time(of event: PropertyListNode) throws(PropertyListError) -> UInt64 {
        guard let stored = archive.member(keys.time, of: event) else { return 0 }
        let document = archive.document
        switch document.kind(of: stored) {
        case .integer: return document.integer(of: stored).bits
        case .boolean: return document.boolean(of: stored) ? 1 : 0
        case .real:
            let real = document.real(of: stored).rounded(.towardZero)
            if let time = Int64(exactly: real) { return UInt64(bitPattern: time) }
            if let time = UInt64(exactly: real) { return time }
        default: break
        }
        throw error(.badValue, at: stored, "a time that is no number")
    }

    /// A structured value of an event.
    mutating func state(_ key: KeyedKey, of event: PropertyListNode) throws(PropertyListError) -> SiftState {
        switch try archive.object(key, of: event) {
        case .none: return .absent
        case .dictionary(let pairs): return .dictionary(pairs, wrapper: nil)
        case .instance(let instance, let wrapper):
            guard let entries = wrappedKey(of: wrapper) else { return .other }
            switch try archive.object(entries, of: instance) {
            case .none: return .empty(wrapper: wrapper)
            case .dictionary(let pairs): return .dictionary(pairs, wrapper: wrapper)
            default: return .other
            }
        default: return .other
        }
    }

    /// The device properties of an event; nil if it has none.
    mutating func deviceProperties(of event: PropertyListNode) throws(PropertyListError) -> KeyedPairs? {
        guard case .dictionary(let pairs, _) = try state(keys.iosDeviceProperties, of: event) else { return nil }
        return pairs
    }
}
