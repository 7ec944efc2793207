import Bytes
import Files
import Telemetry

/// The names that programs give to copies, and those of file systems with other rules for names.
enum AlteredName {
    /// The suffixes of files that are no copies of stores although their names begin like those of stores.
    static let ignoredSuffixes = [
        "-journal", "-shm", "-wal", ".csv", ".har", ".html", ".jsonl", ".md", ".ndjson", ".parquet", ".pdf", ".sha256",
        ".sig",
    ]
    /// The number of bytes of a name that the short name of a FAT file system contains.
    private static let shortNameSize = 6

    /// Returns whether `name` is the path of a file that may belong to a store, with backslashes in place of slashes.
    ///
    /// `path` and `folder` are the path and the name of the folder that contains the file. A JSON file or a property list
    /// is judged by the names of its folders, because apps have many of them.
    static func isPathOfStore(
        _ name: [UInt8], inFolderAt path: String, named folder: String, _ formats: [any StoreFormat]
    ) -> Bool {
        let backslash = UInt8(ascii: "\\")
        guard name.contains(backslash) else { return false }
        let inside = name.map { $0 == backslash ? UInt8(ascii: "/") : $0 }
        let folders = Path.parts(of: path) + Path.parts(of: String(decoding: inside, as: UTF8.self))
        guard let last = folders.last, last.utf8.first != UInt8(ascii: ".") else { return false }
        if StoreNames(formats: formats).hasStoreName(inside) { return true }
        guard ![".json", ".plist"].contains(where: last.utf8.hasSuffixIgnoringCase) else {
            return folders.dropLast().last == "Preferences"
        }
        let member = MemberName(name: last, folders: folders.dropLast(), rootName: folder)
        // Request logs are recognized by their contents.
        return formats.contains { !($0 is RequestLogFormat) && $0.mayBelongToStore(member) }
    }

    /// Returns whether `name` contains the name `original`, apart from its suffix and the case of letters.
    static func isCopy(_ name: [UInt8], of original: [UInt8]) -> Bool {
        let stem = original.prefix { $0 != UInt8(ascii: ".") }.map(\.lowercased)
        return !stem.isEmpty && name.map(\.lowercased).contains(text: String(decoding: stem, as: UTF8.self))
    }

    /// Returns whether `name` begins with one of `prefixes` in any case, contains it after a space as in `Copy of NAME`,
    /// or is a short name of a FAT file system, such as `MOZTEL~1`.
    static func isAltered(_ name: [UInt8], fromNameWithPrefixIn prefixes: [String]) -> Bool {
        let hasSpace = name.contains(UInt8(ascii: " "))
        // Backups have up to a million names, most of which differ in the first letter.
        guard hasSpace || prefixes.contains(where: { $0.utf8.first == name.first?.lowercased }) else { return false }
        let name = name.map(\.lowercased)
        return prefixes.contains { prefix in
            let short = prefix.utf8.prefix(shortNameSize)
            return name.starts(with: prefix.utf8) || hasSpace && name.contains(text: " " + prefix)
                || name.starts(with: short) && name.dropFirst(short.count).first == UInt8(ascii: "~")
                    && name.dropFirst(short.count + 1).first?.isDigit == true
        }
    }
}
