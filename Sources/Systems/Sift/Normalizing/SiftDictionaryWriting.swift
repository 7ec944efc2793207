import JSONText
import PropertyList

extension SiftValueWriter {
    /// A member of a dictionary that is being written.
    struct Member {
        /// The bytes of the key in ``keyText``.
        let key: Range<Int>
        /// The index of the member in its dictionary.
        let position: Int
        /// The value, if it is plain.
        let object: PropertyListNode?
    }

    /// Keys above this length count towards the limit of the output, because a key can be there many times.
    private static let longKey = 256

    /// Writes a dictionary with its members sorted by the UTF-8 bytes of their keys. Of equal keys, the first one counts.
    mutating func write(
        _ pairs: KeyedPairs, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) {
        try bounds.enter(2 * pairs.count, in: &archive)
        defer { bounds.leave() }
        let (first, firstByte) = (members.count, keyText.count)
        defer {
            members.removeLast(members.count - first)
            keyText.removeLast(keyText.count - firstByte)
        }
        for position in 0..<pairs.count {
            guard let text = try key(at: position, of: pairs, in: &archive, document) else {
                note(.nonStringKey)
                continue
            }
            let size = document.payload(of: text).count
            if size > Self.longKey { keyBytes += size }
            guard output.count + keyBytes <= outputLimit else { throw Self.expanded(at: text, in: document) }
            let start = keyText.count
            document.appendUTF8(of: text, to: &keyText)
            let object = Self.object(at: position, of: pairs.values, in: archive, document)
            members.append(Member(key: start..<keyText.count, position: position, object: object))
        }
        Self.sort(&members[first...], byKeysIn: keyText)
        try writeMembers(from: first, pairs.values, of: &archive, document, to: &output)
    }

    /// Returns a key if it is a string.
    @inline(__always)
    private func key(
        at position: Int, of pairs: KeyedPairs, in archive: inout KeyedArchive, _ document: PropertyListDocument
    ) throws(PropertyListError) -> PropertyListNode? {
        if let plain = Self.object(at: position, of: pairs.keys, in: archive, document),
            document.kind(of: plain) == .text
        {
            return plain
        }
        let stored = try Self.element(at: position, of: pairs.keys, in: archive, document)
        return if case .text(let text) = try archive.value(of: stored) { text } else { nil }
    }

    private static func sort(_ members: inout ArraySlice<Member>, byKeysIn text: [UInt8]) {
        members.sort { left, right in
            let order = text.span.extracting(left.key).ordered(against: text.span.extracting(right.key))
            return order == 0 ? left.position < right.position : order < 0
        }
    }

    private func haveEqualKeys(_ left: Member, _ right: Member) -> Bool {
        keyText.span.extracting(left.key).equals(keyText.span.extracting(right.key))
    }

    private mutating func writeMembers(
        from first: Int, _ values: KeyedElements, of archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) {
        output.append(UInt8(ascii: "{"))
        let start = output.count
        for index in first..<members.count {
            let member = members[index]
            if index > first, haveEqualKeys(members[index - 1], member) {
                note(.duplicateKey)
                continue
            }
            let before = output.count
            if before > start { output.append(UInt8(ascii: ",")) }
            output.append(jsonString: keyText.span.extracting(member.key))
            output.append(UInt8(ascii: ":"))
            if try !write(member, of: values, in: &archive, document, to: &output) { output.removeAll(from: before) }
        }
        output.append(UInt8(ascii: "}"))
    }

    @inline(__always)
    private mutating func write(
        _ member: Member, of values: KeyedElements, in archive: inout KeyedArchive, _ document: PropertyListDocument,
        to output: inout TextBuffer
    ) throws(PropertyListError) -> Bool {
        if let object = member.object { return try write(object: object, of: &archive, document, to: &output) }
        let stored = try archive.element(at: member.position, of: values)
        return try write(stored, of: &archive, document, to: &output)
    }
}
