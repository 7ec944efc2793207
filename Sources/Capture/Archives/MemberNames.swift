import Bytes
import Files
import Telemetry

/// The functions that determine by name which members of an archive are copied to the spool.
///
/// A member that is not copied cannot be copied later if the archive is a stream, because a stream is read only once.
enum MemberNames {
    /// Returns whether a file may belong to a store or identify the owner of its container.
    ///
    /// A false positive only costs time. `folders` caches the folder names of the previous file.
    static func mayBelongToStore(
        _ path: MemberPath, rootName: String, _ formats: [any StoreFormat], after folders: inout FolderNames
    ) -> Bool {
        let (folder, name) = path.split
        if FolderEntry.isWindowsMetadata(name) { return false }
        if name.first == UInt8(ascii: ".") { return name.elementsEqual(ContainerFinder.metadataName.utf8) }
        let member = MemberName(
            name: String(decoding: name, as: UTF8.self), folders: folders.names(in: folder), rootName: rootName)
        return formats.contains { $0.mayBelongToStore(member) }
    }

    /// Returns whether a file belongs to the container of an app, or to the app itself, judged by the names of its folders.
    ///
    /// Such files are neither archives nor request logs of the operator, unless their names say so.
    static func isInContainer(_ folders: some Sequence<String>) -> Bool {
        folders.contains { folder in
            ["Documents", "Library", "SystemData", "tmp"].contains(folder)
                || [".app", ".appex", ".bundle", ".framework"].contains(where: folder.hasSuffix)
        }
    }

    /// Returns the name of the file for which a placeholder of iCloud stands, or `nil` if `name` is not that of a
    /// placeholder.
    ///
    /// macOS replaces a file that is stored only in iCloud by a placeholder: `a.json` by `.a.json.icloud`.
    static func nameInCloud(ofPlaceholder name: [UInt8]) -> [UInt8]? {
        let suffix = ".icloud"
        guard name.first == UInt8(ascii: "."), name.count > suffix.utf8.count + 1,
            name.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        else { return nil }
        return Array(name.dropFirst().dropLast(suffix.utf8.count))
    }

    /// The folder names of the previous file, cached because consecutive files are usually in the same folder.
    struct FolderNames {
        private var path: [UInt8] = []
        private var names: [String] = []

        mutating func names(in folder: ArraySlice<UInt8>) -> [String] {
            if path.span.equals(folder.span) { return names }
            path = Array(folder)
            names = folder.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
            return names
        }
    }
}

/// Code page 437, the default character set of names in zip archives.
///
/// Source: "APPNOTE.TXT - .ZIP File Format Specification", appendix D.
enum CodePage437 {
    private static let upperHalf = Array(
        """
        ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
        └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■ 
        """.unicodeScalars)

    /// Returns `name` in UTF-8.
    ///
    /// A name that is valid UTF-8 is returned unchanged, because many programs store UTF-8 without stating it.
    static func utf8(_ name: [UInt8]) -> [UInt8] {
        guard (try? UTF8Span(validating: name.span)) == nil else { return name }
        var text = String.UnicodeScalarView()
        for byte in name { text.append(byte < 0x80 ? Unicode.Scalar(byte) : upperHalf[Int(byte) - 0x80]) }
        return Array(String(text).utf8)
    }
}
