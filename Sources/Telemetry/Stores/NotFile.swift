import Files

/// A symbolic link or a special file in a capture: it is told and not read.
public struct NotFile: Sendable {
    /// Its path in the capture.
    public let path: String
    /// Whether it is a link.
    public let isLink: Bool
    /// Where it leads, if it is a link and that is known.
    public var target: LinkTarget?

    /// Names one.
    public init(path: String, isLink: Bool, target: LinkTarget? = nil) {
        self.path = path
        self.isLink = isLink
        self.target = target
    }

    /// The problem that it is.
    public var problem: Problem {
        guard isLink else {
            return Problem("special", "not read: a pipe, a socket or a device in the place of a file")
        }
        guard let target = target?.shownPath else {
            return Problem("link", "symbolic link not followed; give its target as a capture of its own")
        }
        return Problem("link", "symbolic link to \(target) not followed; give that as a capture of its own")
    }
}
