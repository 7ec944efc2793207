import JSONText
import PropertyList

/// An opened archive of the SDK: its root dictionary, and the keys of event members.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 3 and 4.
struct SiftArchive {
    var archive: KeyedArchive
    private let root: KeyedPairs
    let keys: Keys

    /// The classes of the SDK.
    ///
    /// The raw values are indexes in ``classNames``.
    enum ClassName: Int {
        case event, currentEvent, dictionary, deviceProperties, bucket
    }

    /// The names of each class in all versions of the SDK.
    private static let classNames = [
        ["SiftEvent", "SFEvent"], ["SiftEvent"], ["SiftHtDictionary", "SFHtDictionary"], ["SFIosDeviceProperties"],
        ["SiftTokenBucket", "SFTokenBucket"],
    ]

    /// The keys of members that are looked up often.
    struct Keys {
        let time: KeyedKey
        let type: KeyedKey
        let path: KeyedKey
        let userID: KeyedKey
        let installationID: KeyedKey
        let fields: KeyedKey
        let deviceProperties: KeyedKey
        let appState: KeyedKey
        let iosDeviceProperties: KeyedKey
        let metrics: KeyedKey
        let entries: KeyedKey
        let properties: KeyedKey

        init(_ archive: inout KeyedArchive) {
            time = archive.key("time")
            type = archive.key("type")
            path = archive.key("path")
            userID = archive.key("userId")
            installationID = archive.key("installationId")
            fields = archive.key("fields")
            deviceProperties = archive.key("deviceProperties")
            appState = archive.key("iosAppState")
            iosDeviceProperties = archive.key("iosDeviceProperties")
            metrics = archive.key("metrics")
            entries = archive.key("entries")
            properties = archive.key("properties")
        }
    }

    /// Opens a keyed archive whose root is a dictionary, or throws an error for any other bytes.
    init(_ bytes: [UInt8]) throws(PropertyListError) {
        archive = try KeyedArchive(PropertyListDocument(bytes), classNames: Self.classNames)
        let node = try archive.root()
        guard case .dictionary(let pairs) = try archive.value(ofObject: node) else {
            throw archive.document.error(.wrongRoot, at: node, "the root of the archive is no dictionary")
        }
        root = pairs
        keys = Keys(&archive)
    }

    /// Returns the stored value for `key` in the root, or `nil` if there is none.
    mutating func entry(forKey key: String) throws(PropertyListError) -> PropertyListNode? {
        try entry(forKey: key, in: root)
    }

    private mutating func entry(forKey key: String, in pairs: KeyedPairs) throws(PropertyListError) -> PropertyListNode?
    {
        for position in 0..<pairs.count {
            guard case .text(let text) = try archive.value(at: position, of: pairs.keys),
                archive.document.text(text, equals: key.utf8.span)
            else { continue }
            return try archive.element(at: position, of: pairs.values)
        }
        return nil
    }

    /// Returns the list stored for `key` in the root, or throws an error if there is none.
    mutating func list(forKey key: String) throws(PropertyListError) -> KeyedElements {
        if let stored = try entry(forKey: key), case .array(let elements, .array) = try archive.value(of: stored) {
            return elements
        }
        throw error(.wrongRoot, at: archive.document.root, "the archive has no list \(key)")
    }

    /// Whether the root has an entry that occurs only in queue files, such as the time of the last upload.
    var hasQueueTimestamps: Bool {
        mutating get {
            let keys = ["lastUploadTimestamp", "lastEventTimestamp", "lastEvent", "last_event"]
            return keys.contains { (try? entry(forKey: $0)) != nil }
        }
    }

    /// Returns the string stored for `key` in the root, or `nil` if there is none.
    mutating func text(forKey key: String) -> String? { text(forKey: key, in: root) }

    /// Returns the string stored for `key` in a dictionary, or `nil` if there is none.
    mutating func text(forKey key: String, in pairs: KeyedPairs) -> String? {
        guard let stored = try? entry(forKey: key, in: pairs), case .text(let node) = try? archive.value(of: stored)
        else { return nil }
        return archive.document.string(of: node)
    }

    /// Returns the integer stored for `key` in the root, or `nil` if there is no value.
    mutating func integer(forKey key: String) throws(PropertyListError) -> Int64? {
        guard let stored = try entry(forKey: key) else { return nil }
        switch try archive.value(of: stored) {
        case .none: return nil
        case .boolean(let value): return value ? 1 : 0
        case .integer(let value): return value.signed ?? .max
        case .real(let value):
            if value.isFinite, let integer = Int64(exactly: value.rounded(.towardZero)) { return integer }
        default: break
        }
        throw error(.badValue, at: stored, "\(key) is no number")
    }
}

extension SiftArchive {
    /// Returns the batch at `index` in the uploader file, or throws an error if the batch is not an array.
    mutating func batch(at index: Int, of batches: KeyedElements) throws(PropertyListError) -> KeyedElements {
        let stored = try archive.element(at: index, of: batches)
        guard case .array(let list, .array) = try archive.value(of: stored) else {
            throw error(.wrongClass, at: stored, "a batch that is no array")
        }
        return list
    }

    /// A text with the remaining and total tokens of the collector's token bucket, or `nil` if there is no bucket.
    var tokenDescription: String? {
        mutating get {
            guard let stored = try? entry(forKey: "bucket"),
                case .instance(let bucket, let bucketClass) = try? archive.value(of: stored),
                bucketClass.isNamed(.bucket),
                let left = numberText(forKey: "allowance", of: bucket),
                let all = numberText(forKey: "numTokens", of: bucket)
            else { return nil }
            return "\(left) of \(all) tokens"
        }
    }

    private mutating func numberText(forKey key: String, of instance: PropertyListNode) -> String? {
        guard let stored = archive.member(archive.key(key), of: instance) else { return nil }
        var text: [UInt8] = []
        text.append(jsonNumber: archive.document.real(of: stored))
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the key of the dictionary in instances of `class`, or `nil` if `class` is not a wrapper class.
    func contentKey(ofWrapper class: KeyedClass) -> KeyedKey? {
        if `class`.isNamed(.dictionary) { return keys.entries }
        return `class`.isNamed(.deviceProperties) ? keys.properties : nil
    }

    func error(_ code: PropertyListError.Code, at node: PropertyListNode, _ reason: String) -> PropertyListError {
        archive.document.error(code, at: node, reason)
    }
}

extension KeyedClass {
    /// Returns whether the class is, or inherits from, the SDK class `name`.
    func isNamed(_ name: SiftArchive.ClassName) -> Bool { isNamed(name.rawValue) }
}

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
            eventClass.isNamed(.event)
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
