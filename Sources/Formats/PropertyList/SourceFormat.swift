import JSONText

/// The format of bytes, as their beginning tells it.
///
/// Source: <doc:KeyedArchives>, A.1.
enum SourceFormat {
    case binary
    case xml

    init(of bytes: Span<UInt8>) throws(PropertyListError) {
        guard !bytes.isEmpty else { throw PropertyListError(.empty, at: 0, "no bytes") }
        if bytes.begins(with: "bplist", at: 0) {
            guard bytes.begins(with: "bplist00", at: 0) else {
                guard bytes.count >= 8 else { throw PropertyListError(.truncated, at: bytes.count, "a cut header") }
                throw PropertyListError(.unsupportedVersion, at: 6, "a binary property list of an unknown version")
            }
            self = .binary
            return
        }
        var index = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
        while index < bytes.count, bytes[index].isXMLSpace { index += 1 }
        guard ["<?xml", "<!DOCTYPE", "<plist"].contains(where: { bytes.begins(with: $0, at: index) }) else {
            throw PropertyListError(.notPlist, at: 0, "neither a binary nor an XML property list")
        }
        self = .xml
    }
}

extension Span<UInt8> {
    /// Whether a text stands at an index.
    func begins(with text: String, at index: Int) -> Bool {
        let length = text.utf8.count
        return count - index >= length && extracting(index..<index + length).equals(text)
    }
}

extension UInt8 {
    /// Whether XML calls it white space.
    var isXMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
