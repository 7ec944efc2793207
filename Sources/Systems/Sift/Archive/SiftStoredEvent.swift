import PropertyList

/// An event as stored in a list, with members that are unresolved references.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 4.
struct SiftStoredEvent {
    let node: PropertyListNode
    let eventClass: KeyedClass
    /// The time in milliseconds since 1970, modulo 2^64.
    let time: UInt64
}

/// The content of a dictionary member of an event, which earlier versions of the SDK store in a wrapper.
enum SiftStructuredValue {
    case absent
    /// A wrapper without a dictionary.
    case empty(wrapper: KeyedClass)
    case dictionary(KeyedPairs, wrapper: KeyedClass?)
    case other
}

extension SiftArchive {
    /// Reads an element of a list as an event, or throws an error if it is not an event or cannot be read.
    mutating func readEvent(_ stored: PropertyListNode) throws(PropertyListError) -> SiftStoredEvent {
        let (node, eventClass) = try instance(ofEvent: stored)
        return SiftStoredEvent(node: node, eventClass: eventClass, time: try time(of: node))
    }

    /// Returns the instance that an element of a list refers to, or throws an error if it is not an event.
    mutating func instance(
        ofEvent stored: PropertyListNode
    ) throws(PropertyListError) -> (node: PropertyListNode, eventClass: KeyedClass) {
        guard case .instance(let node, let eventClass) = try archive.value(of: stored),
            eventClass.isNamed(.siftEvent) || eventClass.isNamed(.sfEvent)
        else { throw error(.wrongClass, at: stored, "an element that is no event") }
        return (node, eventClass)
    }

    /// Returns the time of an event, or 0 if the event has none.
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

    /// Reads a dictionary member of an event, whether or not it is stored in a wrapper.
    mutating func structuredValue(forKey key: KeyedKey, of event: PropertyListNode) throws(PropertyListError)
        -> SiftStructuredValue
    {
        switch try archive.object(key, of: event) {
        case .none: return .absent
        case .dictionary(let pairs): return .dictionary(pairs, wrapper: nil)
        case .instance(let instance, let wrapper):
            guard let entries = contentKey(ofWrapper: wrapper) else { return .other }
            switch try archive.object(entries, of: instance) {
            case .none: return .empty(wrapper: wrapper)
            case .dictionary(let pairs): return .dictionary(pairs, wrapper: wrapper)
            default: return .other
            }
        default: return .other
        }
    }

    /// Returns the device properties of an event, or `nil` if it has none.
    mutating func deviceProperties(of event: PropertyListNode) throws(PropertyListError) -> KeyedPairs? {
        let value = try structuredValue(forKey: keys.iosDeviceProperties, of: event)
        return if case .dictionary(let pairs, _) = value { pairs } else { nil }
    }
}
