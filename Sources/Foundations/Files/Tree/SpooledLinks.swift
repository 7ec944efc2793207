extension SpooledTree {
    /// The maximum number of path parts to resolve for one link.
    ///
    /// The limit is needed because a malicious archive can contain very long chains of links.
    private static let maximumResolutionSteps = 256
    /// The maximum number of links to follow before they count as a loop, as on Linux.
    private static let maximumFollowedLinks = 40

    /// Returns the target that a symbolic link would have if the archive were extracted, or `nil` if `path` is not a
    /// link.
    ///
    /// `path` is relative to the folder with the index `start`.
    func target(ofLink path: [UInt8], below start: Int) -> LinkTarget? {
        let parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        guard let name = parts.last, let folders = folders(along: parts.dropLast(), below: start),
            let text = link(named: name, in: folders[folders.count - 1])
        else { return nil }
        var found = destination(of: text, folders)
        let isEnclosing = LexicalLinkTarget(text, in: Array(parts.dropLast())).isEnclosing
        if found == .folder, isEnclosing { found = .enclosingFolder }
        return LinkTarget(path: String(decoding: text, as: UTF8.self), destination: found)
    }

    /// Returns the indices of the folders along a path, beginning with `start`, or `nil` if a folder does not exist.
    private func folders(along parts: some Sequence<[UInt8]>, below start: Int) -> [Int]? {
        var found = [start]
        for part in parts {
            guard let folder = try? folder(at: part, below: found[found.count - 1]) else { return nil }
            found.append(folder)
        }
        return found
    }

    /// Returns the destination of a link whose stored target is `text`, following further links.
    ///
    /// `folders` are the indices of the folders that contain the link, the outermost first.
    private func destination(of text: [UInt8], _ folders: [Int]) -> LinkTarget.Destination {
        guard let parts = Self.parts(of: text) else { return .unknown }
        var path = folders
        // The parts to resolve, in reverse order.
        var rest = Array(parts.reversed())
        var links = 1
        var hasAscended = false
        for _ in 0..<Self.maximumResolutionSteps {
            guard let part = rest.popLast() else { return .folder }
            if part.elementsEqual("..".utf8) {
                path.removeLast()
                hasAscended = true
                guard !path.isEmpty else { return .unknown }
                continue
            }
            switch kind(named: part, in: path[path.count - 1]) {
            // A file next to the archived folder is not a member of the archive, so it is unknown whether the file
            // exists.
            case nil: return hasAscended && path.count == 1 ? .unknown : .missing
            case .file, .special: return rest.isEmpty ? .file : .missing
            case .folder:
                guard let next = try? folder(at: part, below: path[path.count - 1]) else { return .missing }
                path.append(next)
            case .link:
                guard let parts = link(named: part, in: path[path.count - 1]).flatMap(Self.parts) else {
                    return .unknown
                }
                links += 1
                guard links <= Self.maximumFollowedLinks else { return .missing }
                rest += parts.reversed()
            }
        }
        return .unknown
    }

    /// Returns the parts of a stored target without empty parts and `.`, or `nil` if the target is absolute or unknown.
    private static func parts(of text: [UInt8]) -> [[UInt8]]? {
        let slash = UInt8(ascii: "/")
        guard !text.isEmpty, text.first != slash else { return nil }
        return text.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }.map { Array($0) }
    }
}
