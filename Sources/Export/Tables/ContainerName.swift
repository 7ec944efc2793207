import JSONText

/// The functions that determine to which app container on the phone a captured file belongs.
///
/// A container is a folder that contains `Documents` or `Library`, or that iOS or a backup names as a container. The
/// name of a container depends only on the label of the capture and the path of the file. Therefore, records have the
/// same container whether they are read from the capture or from a bundle.
///
/// Source: "Exports", section 1.
enum ContainerName {
    /// Returns the name of the container of the file at `path`.
    ///
    /// The name is the label of the capture, followed by the path of the container in the capture unless the path is
    /// empty.
    static func of(path: String, capture: String) -> String {
        let length = length(ofContainerIn: path.utf8.span)
        return length == 0 ? capture : "\(capture)/\(String(decoding: path.utf8.prefix(length), as: UTF8.self))"
    }

    /// Returns the length, in bytes, of the prefix of `path` that is the path of the container.
    ///
    /// The container is the innermost container folder. If the file is in an archive, only the part of `path` after the
    /// last exclamation mark is searched. If no container is found there, the archive is the container.
    static func length(ofContainerIn path: Span<UInt8>) -> Int {
        var name = lastName(in: path, endingAt: path.count)
        while name.lowerBound > 0, path[name.lowerBound - 1] != UInt8(ascii: "!") {
            let parent = lastName(in: path, endingAt: name.lowerBound - 1)
            let folder = path.extracting(parent)
            let grandparent = parent.lowerBound == 0 ? 0..<0 : lastName(in: path, endingAt: parent.lowerBound - 1)
            if isContainer(folder, in: path.extracting(grandparent)) { return parent.upperBound }
            name = parent
            if isContentFolder(folder) { break }
        }
        var end = name.lowerBound
        while end > 0, isSeparator(path[end - 1]) { end -= 1 }
        return end
    }

    /// Returns the range of the file or folder name that ends at `end`.
    private static func lastName(in path: Span<UInt8>, endingAt end: Int) -> Range<Int> {
        var start = end
        while start > 0, !isSeparator(path[start - 1]) { start -= 1 }
        return start..<end
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "!") }

    /// Returns whether a folder with this name is directly in a container.
    private static func isContentFolder(_ name: Span<UInt8>) -> Bool {
        name.equals("Documents") || name.equals("Library")
    }

    /// Returns whether a folder is a container according to its name or to the name of its parent folder.
    ///
    /// Source: "iOS backups", section 11, L9.
    private static func isContainer(_ name: Span<UInt8>, in parent: Span<UInt8>) -> Bool {
        name.extracting(first: 9).equals("AppDomain") || parent.equals("Application") || parent.equals("AppGroup")
            || parent.equals("PluginKitPlugin")
    }
}
