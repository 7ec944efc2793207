import JSONText

/// The name of the app container on the phone that contains a file of a capture.
///
/// A container is the folder that contains `Documents` and `Library`. Its name depends only on the capture and on the
/// path of the file, so that records that were read from a bundle have the same container.
///
/// Source: "Exports", section 1.
enum ContainerName {
    /// Returns the label of the capture, followed by the path of the container in the capture unless that is empty.
    static func of(path: String, capture: String) -> String {
        let length = length(ofContainerIn: path.utf8.span)
        return length == 0 ? capture : "\(capture)/\(String(decoding: path.utf8.prefix(length), as: UTF8.self))"
    }

    /// Returns the length, in bytes, of the prefix of `path` that is the path of the container.
    ///
    /// The last folder of the path that is called `Documents` or `Library` belongs to the container. In the path of a
    /// member of an archive, only the part after the last exclamation mark is searched. If it contains no such folder,
    /// the archive is the container.
    static func length(ofContainerIn path: Span<UInt8>) -> Int {
        var end = path.count
        while true {
            var start = end
            while start > 0, !isSeparator(path[start - 1]) { start -= 1 }
            let isFirst = start == 0 || path[start - 1] == UInt8(ascii: "!")
            let isFolder = end < path.count
            if isFirst || isFolder && isContainerFolder(path.extracting(start..<end)) {
                while start > 0, isSeparator(path[start - 1]) { start -= 1 }
                return start
            }
            end = start - 1
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "!") }

    private static func isContainerFolder(_ name: Span<UInt8>) -> Bool {
        name.equals("Documents") || name.equals("Library")
    }
}
