import Bytes

/// Reads instances of `NSUUID` and `NSURL`.
///
/// Source: <doc:KeyedArchives>, C.1.
extension KeyedArchive {
    /// Returns a UUID in uppercase, for example `9F2C1D7E-0B3A-4C55-8E11-2A6B7C8D9E0F`.
    mutating func uuid(of instance: PropertyListNode) throws(PropertyListError) -> String {
        guard let stored = member(uuidKey, of: instance), document.kind(of: stored) == .data,
            document.payload(of: stored).count == 16
        else { throw badValue(instance, "a UUID that has not 16 bytes") }
        let bytes = document.payload(of: stored)
        var text: [UInt8] = []
        for index in bytes.indices {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append((bytes[index] >> 4).upperHexadecimalDigit)
            text.append((bytes[index] & 0xF).upperHexadecimalDigit)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the relative part of an `NSURL`, and the object of its base URL if it has one.
    mutating func url(
        of instance: PropertyListNode
    ) throws(PropertyListError) -> (relative: String, base: PropertyListNode?) {
        guard case .text(let relative) = try object(relativeKey, of: instance) else {
            throw badValue(instance, "a URL without text")
        }
        work.charge(bytes: document.payload(of: relative).count)
        guard let stored = member(baseKey, of: instance), let base = try object(stored) else {
            return (document.string(of: relative), nil)
        }
        guard document.kind(of: base) == .dictionary, try classOfInstance(base)?.foundation == .url else {
            throw badValue(stored, "a URL whose base is none")
        }
        return (document.string(of: relative), base)
    }
}
