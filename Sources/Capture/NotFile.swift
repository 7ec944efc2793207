import Telemetry

/// A link or a special file that stands, by its name, in the place of a store or of a file of one.
struct NotFile: Sendable {
    let path: String
    let isLink: Bool

    var problem: Problem {
        isLink
            ? Problem("link", "symbolic link not followed; give its target as a capture of its own")
            : Problem("special", "not read: a pipe, a socket or a device in the place of a file")
    }
}

extension FolderVisit {
    /// Whether a name is that of a store, or of a file of the store that the folder is.
    func isNamedForStore(_ name: [UInt8]) -> Bool {
        let text = String(decoding: name, as: UTF8.self)
        if MozillaName.isOwn(text) || text == SiftFile.folderName || LeanplumName(file: text) != nil { return true }
        return switch stores.first?.contents {
        case .pingFolder: DecimalTime(pingFileName: name.span) != nil
        case .sift: text == SiftFile.queuesName || SiftFile(name: text) != nil
        default: false
        }
    }
}
