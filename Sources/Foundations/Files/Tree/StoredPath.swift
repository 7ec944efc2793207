import Glibc

extension Folder {
    /// The UTF-8 encoding of U+FFFD, which replaces malformed bytes in strings.
    private static let replacementCharacter: [UInt8] = [0xEF, 0xBF, 0xBD]

    /// Returns the bytes that are stored for `path`, a decoded path relative to this folder.
    ///
    /// If a part of `path` contains U+FFFD, its parent folder is searched for an entry whose decoded name equals that
    /// part.
    ///
    /// - Throws: `FileError`: `ENOENT` if no entry matches a name, or `EILSEQ` if several entries match.
    func storedPath(of path: String) throws(FileError) -> [UInt8] {
        guard path.utf8.contains(Self.replacementCharacter[0]), path.utf8.contains(Self.replacementCharacter) else {
            return Array(path.utf8)
        }
        var stored: [UInt8] = []
        for part in path.utf8.split(separator: UInt8(ascii: "/")) {
            let name =
                part.contains(Self.replacementCharacter) ? try storedName(of: part, inFolder: stored) : Array(part)
            stored += (stored.isEmpty ? [] : [UInt8(ascii: "/")]) + name
        }
        return stored
    }

    private func storedName(of name: Substring.UTF8View, inFolder path: [UInt8]) throws(FileError) -> [UInt8] {
        let entries = try folder(atStored: path).entries()
        var found: [UInt8]?
        for index in 0..<entries.count {
            let stored = entries.name(index)
            guard String(decoding: stored, as: UTF8.self).utf8.elementsEqual(name) else { continue }
            guard found == nil else { throw FileError(.open, String(name) ?? "", code: EILSEQ) }
            found = stored
        }
        guard let found else { throw FileError(.open, String(name) ?? "", code: ENOENT) }
        return found
    }
}
