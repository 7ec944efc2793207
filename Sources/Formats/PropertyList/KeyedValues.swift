import JSONText

/// The texts of Foundation values that need more than one look.
///
/// Source: <doc:KeyedArchives>, C.1.
extension KeyedArchive {
    /// The 16 bytes of an `NSUUID`, as place of the data that holds them.
    /// - Throws: `bad-value` if they are not there or not 16.
    public mutating func uuidBytes(of instance: PropertyListNode) throws(PropertyListError) -> PropertyListNode {
        guard let stored = member(uuidKey, of: instance), document.kind(of: stored) == .data,
            document.payload(of: stored).count == 16
        else { throw badValue(instance, "a UUID that has not 16 bytes") }
        return stored
    }

    /// A UUID in upper case: `9F2C1D7E-0B3A-4C55-8E11-2A6B7C8D9E0F`.
    /// - Throws: `bad-value` if it has not 16 bytes.
    public mutating func uuid(of instance: PropertyListNode) throws(PropertyListError) -> String {
        let stored = try uuidBytes(of: instance)
        let bytes = document.payload(of: stored)
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for index in bytes.indices {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(bytes[index] >> 4)])
            text.append(digits[Int(bytes[index] & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The relative part of an `NSURL` and the place of its base, if it has one.
    /// - Throws: `bad-value`, `uid-out-of-range`, `bad-class`.
    public mutating func url(
        of instance: PropertyListNode
    ) throws(PropertyListError) -> (relative: String, base: PropertyListNode?) {
        guard case .text(let relative) = try object(relativeKey, of: instance) else {
            throw badValue(instance, "a URL without text")
        }
        guard let stored = member(baseKey, of: instance), let base = try object(stored) else {
            return (document.string(of: relative), nil)
        }
        guard document.kind(of: base) == .dictionary, try classOfInstance(base)?.foundation == .url else {
            throw badValue(stored, "a URL whose base is none")
        }
        return (document.string(of: relative), base)
    }
}
