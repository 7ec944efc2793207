import Files

/// A symbolic link or a special file in a capture, which is reported and not read.
public struct SkippedEntry: Sendable {
    /// The path of the entry in the capture.
    public let path: String
    /// Whether the entry is a symbolic link.
    public let isLink: Bool
    /// The target of the symbolic link, if it is known.
    public var target: LinkTarget?

    /// Creates a skipped entry.
    public init(path: String, isLink: Bool, target: LinkTarget? = nil) {
        self.path = path
        self.isLink = isLink
        self.target = target
    }

    /// The problem that reports the entry.
    public var problem: Problem {
        guard isLink else { return Problem("special", "not read: a pipe, a socket or a device in the place of a file") }
        guard let target = target?.shownPath else {
            return Problem("link", "symbolic link not followed; give its target as a capture of its own")
        }
        return Problem("link", "symbolic link to \(target) not followed; give that as a capture of its own")
    }
}
