import JSONText
import PropertyList

/// Writes events as entries of a list request, canonical JSON straight from the archive.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 6.
struct SiftEventWriter {
    var values: SiftValueWriter

    /// An element of a list that is an event, before anything in it was followed.
    struct Event {
        let node: PropertyListNode
        /// Milliseconds since 1970, modulo 2^64.
        let time: UInt64
    }

    /// What a written event says besides its entry.
    struct Facts {
        /// Where the text of the installation id is.
        let client: PropertyListNode?
        /// The dictionary of the device properties.
        let deviceProperties: KeyedPairs?
    }

    /// The event that an element of a list is.
    /// - Throws: `wrong-class` for anything else, `bad-value` for a time that is no number, and what reading it throws.
    mutating func event(
        _ stored: PropertyListNode, in archive: inout SiftArchive
    ) throws(PropertyListError) -> Event {
        guard case .instance(let node, let found) = try archive.archive.value(of: stored),
            found.isNamed(.siftEvent) || found.isNamed(.sfEvent)
        else { throw archive.error(.wrongClass, at: stored, "an element that is no event") }
        if !found.isNamed(.siftEvent) { note(found, in: archive) }
        return Event(node: node, time: try time(of: node, in: &archive))
    }

    /// Appends the entry of an event.
    /// - Throws: `PropertyListError` with the code of why there is none; what was appended by then is not taken back.
    mutating func write(
        _ event: Event, of archive: inout SiftArchive, to output: inout [UInt8]
    ) throws(PropertyListError) -> Facts {
        let (node, keys) = (event.node, archive.keys)
        output.append(UInt8(ascii: "{"))
        try writeTexts(.deviceProperties, keys.deviceProperties, of: node, in: &archive, to: &output)
        try writeTexts(.fields, keys.fields, of: node, in: &archive, to: &output)
        let client = try writeText(.installationID, keys.installationID, of: node, in: &archive, to: &output)
        try writeState(.appState, keys.appState, of: node, in: &archive, to: &output)
        let properties = try writeState(
            .iosDeviceProperties, keys.iosDeviceProperties, of: node, in: &archive, to: &output)
        try writeTexts(.metrics, keys.metrics, of: node, in: &archive, to: &output)
        try writeText(.type, keys.type, of: node, in: &archive, to: &output)
        try writeText(.path, keys.path, of: node, in: &archive, to: &output)
        output.append(contentsOf: Name.time.opening)
        output.append(contentsOf: String(event.time).utf8)
        try writeText(.userID, keys.userID, of: node, in: &archive, to: &output)
        output.append(UInt8(ascii: "}"))
        return Facts(client: client, deviceProperties: properties)
    }

    /// The time of an event.
    /// - Throws: `bad-value` for anything but a number.
    private func time(
        of event: PropertyListNode, in archive: inout SiftArchive
    ) throws(PropertyListError) -> UInt64 {
        guard let stored = archive.archive.member(archive.keys.time, of: event) else { return 0 }
        let document = archive.archive.document
        switch document.kind(of: stored) {
        case .integer: return document.integer(of: stored).bits
        case .boolean: return document.boolean(of: stored) ? 1 : 0
        case .real:
            let real = document.real(of: stored).rounded(.towardZero)
            if let time = Int64(exactly: real) { return UInt64(bitPattern: time) }
            if let time = UInt64(exactly: real) { return time }
        default: break
        }
        throw archive.error(.badValue, at: stored, "a time that is no number")
    }
}

// MARK: - Members

extension SiftEventWriter {
    /// Writes a text that is neither nil nor empty [R1].
    /// - Returns: where it is, if it was written.
    /// - Throws: `event-skipped` for anything but a text.
    @discardableResult
    private mutating func writeText(
        _ name: Name, _ key: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive,
        to output: inout [UInt8]
    ) throws(PropertyListError) -> PropertyListNode? {
        switch try archive.archive.object(key, of: event) {
        case .none: return nil
        case .text(let text):
            guard !archive.archive.document.payload(of: text).isEmpty else { return nil }
            output.append(contentsOf: name.opening)
            output.append(jsonText: text, of: archive.archive.document)
            output.append(contentsOf: name.closing)
            return text
        default: throw archive.error(.eventSkipped, at: event, "\(name.text) is no text")
        }
    }

    /// Writes a dictionary of texts that is not nil [R2].
    /// - Throws: `event-skipped` for anything else, or if a key or a value is no text.
    private mutating func writeTexts(
        _ name: Name, _ key: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive,
        to output: inout [UInt8]
    ) throws(PropertyListError) {
        switch try archive.archive.object(key, of: event) {
        case .none: return
        case .dictionary(let pairs):
            try values.bounds.enter(2 * pairs.count, in: &archive.archive)
            values.bounds.leave()
            guard try hasTextsOnly(pairs, in: &archive) else {
                throw archive.error(.eventSkipped, at: event, "\(name.text) has a key or a value that is no text")
            }
            try write(pairs, named: name, of: &archive, to: &output)
        default: throw archive.error(.eventSkipped, at: event, "\(name.text) is no dictionary")
        }
    }

    private func hasTextsOnly(_ pairs: KeyedPairs, in archive: inout SiftArchive) throws(PropertyListError) -> Bool {
        for elements in [pairs.keys, pairs.values] {
            for position in 0..<elements.count {
                let stored = try archive.archive.element(at: position, of: elements)
                guard case .text = try archive.archive.value(of: stored) else { return false }
            }
        }
        return true
    }

    /// Writes a structured value that is not nil [R3].
    /// - Returns: the dictionary, if it was written.
    /// - Throws: `wrong-class` for anything but a dictionary.
    @discardableResult
    private mutating func writeState(
        _ name: Name, _ key: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive,
        to output: inout [UInt8]
    ) throws(PropertyListError) -> KeyedPairs? {
        switch try state(key, of: event, in: &archive) {
        case .absent: return nil
        case .empty:
            output.append(contentsOf: name.opening)
            output.append(contentsOf: "{}".utf8)
            output.append(contentsOf: name.closing)
            return nil
        case .dictionary(let pairs):
            try write(pairs, named: name, of: &archive, to: &output)
            return pairs
        case .other: throw archive.error(.wrongClass, at: event, "\(name.text) is no dictionary")
        }
    }

    /// A structured value, out of its wrapper.
    private enum State {
        case absent
        /// A wrapper around nothing.
        case empty
        case dictionary(KeyedPairs)
        case other
    }

    private mutating func state(
        _ key: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive
    ) throws(PropertyListError) -> State {
        switch try archive.archive.object(key, of: event) {
        case .none: return .absent
        case .dictionary(let pairs): return .dictionary(pairs)
        case .instance(let wrapper, let found):
            guard let entries = archive.wrappedKey(of: found) else { return .other }
            note(found, in: archive)
            switch try archive.archive.object(entries, of: wrapper) {
            case .none: return .empty
            case .dictionary(let pairs): return .dictionary(pairs)
            default: return .other
            }
        default: return .other
        }
    }

    /// The device properties of an event; nil if it has none.
    mutating func deviceProperties(
        of event: PropertyListNode, in archive: inout SiftArchive
    ) throws(PropertyListError) -> KeyedPairs? {
        if case .dictionary(let pairs) = try state(archive.keys.iosDeviceProperties, of: event, in: &archive) {
            return pairs
        }
        return nil
    }

    private mutating func write(
        _ pairs: KeyedPairs, named name: Name, of archive: inout SiftArchive, to output: inout [UInt8]
    ) throws(PropertyListError) {
        output.append(contentsOf: name.opening)
        values.member = name.text
        let document = archive.archive.document
        try values.write(pairs, of: &archive.archive, document, to: &output)
        output.append(contentsOf: name.closing)
    }

    private mutating func note(_ found: KeyedClass, in archive: borrowing SiftArchive) {
        values.notes.add(
            .legacyClass(archive.archive.document.string(of: found.name)), at: "event \(values.event)")
    }
}

extension SiftEventWriter {
    /// The name of a member of an entry. Only the time is in every entry, so the commas stand on its side.
    struct Name: Sendable {
        let text: String
        /// What comes in front of the value, and behind it.
        let opening: [UInt8]
        let closing: [UInt8]

        static let deviceProperties = Name(beforeTime: "device_properties")
        static let fields = Name(beforeTime: "fields")
        static let installationID = Name(beforeTime: "installation_id")
        static let appState = Name(beforeTime: "ios_app_state")
        static let iosDeviceProperties = Name(beforeTime: "ios_device_properties")
        static let metrics = Name(beforeTime: "metrics")
        static let type = Name(beforeTime: "mobile_event_type")
        static let path = Name(beforeTime: "path")
        static let time = Name(text: "time", opening: "\"time\":", closing: "")
        static let userID = Name(text: "user_id", opening: ",\"user_id\":", closing: "")

        private init(text: String, opening: String, closing: String) {
            self.text = text
            self.opening = Array(opening.utf8)
            self.closing = Array(closing.utf8)
        }

        private init(beforeTime text: String) {
            self.init(text: text, opening: "\"\(text)\":", closing: ",")
        }
    }
}
