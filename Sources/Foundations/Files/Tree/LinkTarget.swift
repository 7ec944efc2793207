/// Where a symbolic link leads, as far as that can be told without reading what is there.
public struct LinkTarget: Sendable, Equatable {
    /// What is at the end of a link.
    public enum Destination: Sendable, Equatable {
        /// A folder that the link itself lies in.
        case enclosingFolder
        /// Another folder.
        case folder
        /// Anything that is no folder, inside of the capture.
        case file
        /// Anything that is no folder, outside of the capture.
        case fileOutside
        /// Nothing: what should be there inside of the capture is not.
        case nothing
        /// It cannot be told: it lies outside of what was captured, or may not be looked at.
        case unknown
    }

    /// The path as the link has it; empty if it is not known.
    public let path: String
    /// What is there.
    public let destination: Destination

    /// A path that is longer than this is shown by its beginning.
    private static let mostShown = 256

    /// The path for messages; nil if it is not known.
    public var shownPath: String? {
        guard !path.isEmpty else { return nil }
        return path.count > Self.mostShown ? "\(path.prefix(Self.mostShown))…" : path
    }
}

/// The path that a link leads to, below the root of the capture, by its words alone.
struct LinkWords {
    /// The parts of the path; nil if it leads out of the capture.
    let parts: [[UInt8]]?
    /// Whether the path is that of a folder that the link lies in, whatever other links there are.
    let isEnclosing: Bool

    /// - Parameters:
    ///   - text: what stands in the link.
    ///   - folder: the parts of the path of the folder that the link lies in.
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
        var turnsBack = false
        for part in text.split(separator: slash) where !part.elementsEqual(".".utf8) {
            if part.elementsEqual("..".utf8) {
                turnsBack = turnsBack || hasNames
                isOutside = path.popLast() == nil || isOutside
            } else {
                hasNames = true
                path.append(Array(part))
            }
        }
        parts = isOutside ? nil : path
        // Behind a name, the folder above may be another one, for the name can be that of a link.
        isEnclosing = !isOutside && !turnsBack && folder.starts(with: path)
    }
}
