import Bytes
import JSONText
import PropertyList

/// A writer of events as entries of a list request, in canonical JSON.
///
/// Source: "Sift iOS SDK: on-disk store, list request", section 6.
struct SiftEventWriter {
    var valueWriter: SiftValueWriter

    /// Appends the entry of an event to `output`.
    ///
    /// If an error is thrown, `output` ends with an incomplete entry.
    mutating func write(
        _ stored: PropertyListNode, of archive: inout SiftArchive, to output: inout TextBuffer
    ) throws(PropertyListError) -> SiftEntryBatch.Event {
        let event = try archive.readEvent(stored)
        if !event.eventClass.isNamed(.currentEvent) { noteLegacyClass(event.eventClass, in: archive) }
        let (node, keys) = (event.node, archive.keys)
        output.append(UInt8(ascii: "{"))
        try writeStrings(.deviceProperties, keys.deviceProperties, of: node, in: &archive, to: &output)
        try writeStrings(.fields, keys.fields, of: node, in: &archive, to: &output)
        let client = try writeString(.installationID, keys.installationID, of: node, in: &archive, to: &output)
        try writeStructuredValue(.appState, keys.appState, of: node, in: &archive, to: &output)
        let properties = try writeStructuredValue(
            .iosDeviceProperties, keys.iosDeviceProperties, of: node, in: &archive, to: &output)
        try writeStrings(.metrics, keys.metrics, of: node, in: &archive, to: &output)
        try writeString(.type, keys.type, of: node, in: &archive, to: &output)
        try writeString(.path, keys.path, of: node, in: &archive, to: &output)
        output.append(EntryKey.time.opening)
        output.append(decimal: event.time)
        try writeString(.userID, keys.userID, of: node, in: &archive, to: &output)
        output.append(UInt8(ascii: "}"))
        return SiftEntryBatch.Event(
            node: node, time: event.time, clientNode: client, hasDeviceProperties: properties != nil)
    }
}

// MARK: - Members

extension SiftEventWriter {
    /// Writes and returns a string member, unless it is `nil` or empty (rule R1 of the source).
    @discardableResult
    private mutating func writeString(
        _ entryKey: EntryKey, _ storedKey: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> PropertyListNode? {
        switch try archive.archive.object(storedKey, of: event) {
        case .none: return nil
        case .text(let text):
            guard !archive.archive.document.payload(of: text).isEmpty else { return nil }
            output.append(entryKey.opening)
            output.append(jsonText: text, of: archive.archive.document)
            output.append(entryKey.closing)
            return text
        default: throw archive.error(.eventSkipped, at: event, "\(entryKey.text) is no text")
        }
    }

    /// Writes a dictionary member of strings, unless it is `nil` (rule R2 of the source).
    private mutating func writeStrings(
        _ entryKey: EntryKey, _ storedKey: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive,
        to output: inout TextBuffer
    ) throws(PropertyListError) {
        switch try archive.archive.object(storedKey, of: event) {
        case .none: return
        case .dictionary(let pairs):
            try valueWriter.bounds.enterCollection(ofCount: 2 * pairs.count, in: &archive.archive)
            valueWriter.bounds.leaveCollection()
            guard try containsOnlyStrings(pairs, in: &archive) else {
                throw archive.error(.eventSkipped, at: event, "\(entryKey.text) has a key or a value that is no text")
            }
            try write(pairs, for: entryKey, of: &archive, to: &output)
        default: throw archive.error(.eventSkipped, at: event, "\(entryKey.text) is no dictionary")
        }
    }

    private func containsOnlyStrings(_ pairs: KeyedPairs, in archive: inout SiftArchive) throws(PropertyListError)
        -> Bool
    {
        for elements in [pairs.keys, pairs.values] {
            for position in 0..<elements.count {
                guard case .text = try archive.archive.value(at: position, of: elements) else { return false }
            }
        }
        return true
    }

    /// Writes and returns a dictionary member with values of any type, unless it is `nil` (rule R3 of the source).
    @discardableResult
    private mutating func writeStructuredValue(
        _ entryKey: EntryKey, _ storedKey: KeyedKey, of event: PropertyListNode, in archive: inout SiftArchive,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> KeyedPairs? {
        switch try archive.structuredValue(forKey: storedKey, of: event) {
        case .absent: return nil
        case .empty(let wrapper):
            noteLegacyClass(wrapper, in: archive)
            output.append(entryKey.opening)
            output.append("{}" as ConstantText)
            output.append(entryKey.closing)
            return nil
        case .dictionary(let pairs, let wrapper):
            if let wrapper { noteLegacyClass(wrapper, in: archive) }
            try write(pairs, for: entryKey, of: &archive, to: &output)
            return pairs
        case .other: throw archive.error(.wrongClass, at: event, "\(entryKey.text) is no dictionary")
        }
    }

    private mutating func write(
        _ pairs: KeyedPairs, for entryKey: EntryKey, of archive: inout SiftArchive, to output: inout TextBuffer
    ) throws(PropertyListError) {
        output.append(entryKey.opening)
        valueWriter.memberName = entryKey.text
        let document = archive.archive.document
        try valueWriter.write(pairs, of: &archive.archive, document, to: &output)
        output.append(entryKey.closing)
    }

    private mutating func noteLegacyClass(_ legacyClass: KeyedClass, in archive: borrowing SiftArchive) {
        valueWriter.notes.add(
            .legacyClass(CapturedText(archive.archive.document.string(of: legacyClass.name))),
            at: "event \(valueWriter.eventPosition)")
    }
}

extension SiftEventWriter {
    /// The key of a member of an entry, with the punctuation around its value.
    ///
    /// Only the time is in every entry. Therefore, members before it end with a comma, and the member after it starts
    /// with one.
    private struct EntryKey: Sendable {
        let text: String
        /// The key and the punctuation that precede the value.
        let opening: ConstantText
        /// The comma that follows the value, or an empty string.
        let closing: ConstantText

        static let deviceProperties = EntryKey(beforeTime: "device_properties")
        static let fields = EntryKey(beforeTime: "fields")
        static let installationID = EntryKey(beforeTime: "installation_id")
        static let appState = EntryKey(beforeTime: "ios_app_state")
        static let iosDeviceProperties = EntryKey(beforeTime: "ios_device_properties")
        static let metrics = EntryKey(beforeTime: "metrics")
        static let type = EntryKey(beforeTime: "mobile_event_type")
        static let path = EntryKey(beforeTime: "path")
        static let time = EntryKey(text: "time", opening: "\"time\":", closing: "")
        static let userID = EntryKey(text: "user_id", opening: ",\"user_id\":", closing: "")

        private init(text: String, opening: String, closing: String) {
            self.text = text
            self.opening = ConstantText(stringLiteral: opening)
            self.closing = ConstantText(stringLiteral: closing)
        }

        private init(beforeTime text: String) {
            self.init(text: text, opening: "\"\(text)\":", closing: ",")
        }
    }
}
