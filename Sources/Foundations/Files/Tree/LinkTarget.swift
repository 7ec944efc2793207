/// The target of a symbolic link, as far as it is known without reading the target.
public struct LinkTarget: Sendable, Equatable {
    /// The kind of file to which a link resolves.
    public enum Destination: Sendable, Equatable {
        /// A folder that contains the link.
        case enclosingFolder
        /// A folder that is not known to contain the link.
        case folder
        /// A file in the capture that is not a folder.
        case file
        /// A file that is not a folder and is outside of the capture.
        case fileOutside
        /// A path in the capture at which no file exists, or a loop of links.
        case missing
        /// A file that is outside of the capture or cannot be accessed.
        case unknown
    }

    /// The path that is stored in the link, or an empty string if it is unknown.
    public let path: String
    /// The kind of file to which the link resolves.
    public let destination: Destination

    /// The maximum number of characters of a path in messages.
    private static let maximumShownLength = 256

    /// The path for messages, or `nil` if it is unknown.
    public var shownPath: String? {
        guard !path.isEmpty else { return nil }
        return path.count > Self.maximumShownLength ? "\(path.prefix(Self.maximumShownLength))…" : path
    }
}

/// The target of a link relative to the root of the capture, derived only from the stored path.
struct LexicalLinkTarget {
    /// The parts of the path, or `nil` if it is outside of the capture.
    let parts: [[UInt8]]?
    /// Whether the target is a folder that contains the link, regardless of other links.
    let isEnclosing: Bool

    /// Derives the target from the path that is stored in a link, and from the parts of the path of the link's folder.
    init(_ text: [UInt8], in folder: [[UInt8]]) {
        let slash = UInt8(ascii: "/")
        guard !text.isEmpty, text.first != slash else {
            parts = nil
            isEnclosing = false
            return
        }
        var path = folder
        var isOutside = false
        var hasNames = false
        var ascendsAfterName = false
        for part in text.split(separator: slash) where !part.elementsEqual(".".utf8) {
            if part.elementsEqual("..".utf8) {
                ascendsAfterName = ascendsAfterName || hasNames
                isOutside = path.popLast() == nil || isOutside
            } else {
                hasNames = true
                path.append(Array(part))
            }
        }
        parts = isOutside ? nil : path
        // After a name, `..` can refer to an unrelated folder, because the name can be the name of a link.
        isEnclosing = !isOutside && !ascendsAfterName && folder.starts(with: path)
    }
}
