import JSONText
import PropertyList

/// Writes events as entries of a list request, canonical JSON straight from the archive.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 6.
struct SiftEventWriter {
    var values: SiftValueWriter

    /// Appends the entry of an event.
    /// - Parameter stored: the element of the list.
    /// - Throws: `PropertyListError` with the code of why there is none; what was appended by then is not taken back.
    mutating func write(
        _ stored: PropertyListNode, of archive: inout SiftArchive, to output: inout TextBuffer
    ) throws(PropertyListError) -> SiftEntryBatch.Event {
        let event = try archive.event(stored)
        if !event.found.isNamed(.siftEvent) { note(event.found, in: archive) }
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
        output.append(Name.time.opening)
        output.append(decimal: event.time)
        try writeText(.userID, keys.userID, of: node, in: &archive, to: &output)
        output.append(UInt8(ascii: "}"))
        return SiftEntryBatch.Event(
            node: node, time: event.time, client: client, hasDeviceProperties: properties != nil)
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
        to output: inout TextBuffer
    ) throws(PropertyListError) -> PropertyListNode? {
        switch try archive.archive.object(key, of: event) {
        case .none: return nil
        case .text(let text):
            guard !archive.archive.document.payload(of: text).isEmpty else { return nil }
            output.append(name.opening)
            output.append(jsonText: text, of: archive.archive.document)
            output.append(name.closing)
            return text
        default: throw archive.error(.eventSkipped, at: event, "\(name.text) is no text")
        }
    }

    /// Writes a dictionary of texts that is not nil [R2].
    /// - Throws: `event-skipped` for anything else, or if a key or a value is no text.
    private mutating func writeTexts(
        _ name: Name, _ key: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive,
        to output: inout TextBuffer
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
        to output: inout TextBuffer
    ) throws(PropertyListError) -> KeyedPairs? {
        switch try archive.state(key, of: event) {
        case .absent: return nil
        case .empty(let wrapper):
            note(wrapper, in: archive)
            output.append(name.opening)
            output.append("{}" as TextPiece)
            output.append(name.closing)
            return nil
        case .dictionary(let pairs, let wrapper):
            if let wrapper { note(wrapper, in: archive) }
            try write(pairs, named: name, of: &archive, to: &output)
            return pairs
        case .other: throw archive.error(.wrongClass, at: event, "\(name.text) is no dictionary")
        }
    }

    private mutating func write(
        _ pairs: KeyedPairs, named name: Name, of archive: inout SiftArchive, to output: inout TextBuffer
    ) throws(PropertyListError) {
        output.append(name.opening)
        values.memberName = name.text
        let document = archive.archive.document
        try values.write(pairs, of: &archive.archive, document, to: &output)
        output.append(name.closing)
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
        /// The bytes in front of the value, and behind it.
        let opening: TextPiece
        let closing: TextPiece

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
            self.opening = TextPiece(stringLiteral: opening)
            self.closing = TextPiece(stringLiteral: closing)
        }

        private init(beforeTime text: String) {
            self.init(text: text, opening: "\"\(text)\":", closing: ",")
        }
    }
}
