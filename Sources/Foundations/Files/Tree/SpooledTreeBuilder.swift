import Bytes

/// Builds from the members of an archive, or the rows of a backup, the folders that extracting it would make.
public struct SpooledTreeBuilder {
    /// Something that extracting would not have made, or not as the archive says.
    public enum Fault {
        /// A file, link or device whose name a folder has.
        case clash(path: String)
        /// A hard link to something that is not in the archive, or is not a file.
        case deadLink(path: MemberPath, target: MemberPath)
        /// A hard link to a file whose contents were not kept.
        case leftOutTarget(path: MemberPath, target: MemberPath)
    }

    private struct Folder {
        var path: [UInt8]
        var entries = FolderEntries()
    }

    private struct FolderName: Hashable {
        let parent: Int
        let name: [UInt8]
    }

    private struct HardLink {
        let path: MemberPath
        let file: Int
        let target: MemberPath
    }

    /// Begins with an empty root.
    public init() {}

    /// How many entries there are.
    public private(set) var count = 0
    /// How many bytes their names and the paths of the folders have.
    public private(set) var nameBytes = 0
    private var folders = [Folder(path: [])]
    private var places: [FolderName: Int] = [:]
    /// The contents of the files; all files that are left out share the first.
    private var files: [SpooledTree.Contents] = [.leftOut]
    private var hardLinks: [HardLink] = []
    /// Where symbolic links lead. All of which that is not known share the first.
    private var targets: [[UInt8]] = [[]]
    /// The folder that was used last: members mostly come folder by folder.
    private var last = SpooledTree.root

    /// Adds a folder.
    public mutating func addFolder(_ path: MemberPath) {
        last = folder(at: path.bytes[...])
    }

    /// Adds a file; of several at one path, the last one counts, as when they are extracted.
    public mutating func addFile(_ path: MemberPath, _ contents: SpooledTree.Contents) {
        add(path, .file, place(of: contents))
    }

    private mutating func place(of contents: SpooledTree.Contents) -> Int {
        guard contents != .leftOut else { return 0 }
        files.append(contents)
        return files.count - 1
    }

    /// Adds a symbolic link.
    /// - Parameter target: where it leads, as it says itself; no bytes if that is not known.
    public mutating func addLink(_ path: MemberPath, to target: [UInt8]) {
        guard !target.isEmpty else { return add(path, .link, 0) }
        targets.append(target)
        nameBytes += target.count
        add(path, .link, targets.count - 1)
    }

    /// Adds a special file: a pipe, a device or a socket.
    public mutating func addSpecial(_ path: MemberPath) { add(path, .special, 0) }

    /// Adds another name of a file.
    /// - Parameter contents: bytes that come with this name; both names have them then.
    public mutating func addHardLink(_ path: MemberPath, to target: MemberPath, _ contents: SpooledTree.Contents) {
        let file = place(of: contents)
        add(path, .file, file)
        hardLinks.append(HardLink(path: path, file: file, target: target))
    }

    private mutating func add(_ path: MemberPath, _ kind: FolderEntries.Kind, _ place: Int) {
        let (parent, name) = path.split
        guard !name.isEmpty else { return }
        last = folder(at: parent)
        append(name, kind, place, to: last)
    }

    private mutating func append(_ name: ArraySlice<UInt8>, _ kind: FolderEntries.Kind, _ place: Int, to folder: Int) {
        count += 1
        nameBytes += name.count
        folders[folder].entries.append(name: name, kind: kind, inode: UInt64(place))
    }

    /// The folder at a path, made if it is not there.
    private mutating func folder(at path: ArraySlice<UInt8>) -> Int {
        let lastPath = folders[last].path
        if lastPath.span.equals(path.span) { return last }
        var folder = SpooledTree.root
        for part in path.split(separator: UInt8(ascii: "/")) {
            let name = FolderName(parent: folder, name: Array(part))
            if let place = places[name] {
                folder = place
                continue
            }
            let place = folders.count
            folders.append(Folder(path: Array(path[..<part.endIndex])))
            nameBytes += part.endIndex - path.startIndex
            places[name] = place
            append(part, .folder, place, to: folder)
            folder = place
        }
        return folder
    }
}

// MARK: - The tree

extension SpooledTreeBuilder {
    /// The finished tree, and the faults of the archive.
    /// - Parameter name: what messages call the archive.
    public consuming func finish(name: String, bytes: SpooledTree.Bytes) -> (tree: SpooledTree, faults: [Fault]) {
        var faults: [Fault] = []
        var sorted: [FolderEntries] = []
        sorted.reserveCapacity(folders.count)
        for place in folders.indices {
            Self.settle(&folders[place], &faults)
            sorted.append(folders[place].entries)
            folders[place].entries = FolderEntries()
        }
        let tree = SpooledTree(name: name, folders: sorted, files: files, links: targets, bytes: bytes)
        guard !hardLinks.isEmpty else { return (tree, faults) }
        for link in hardLinks { moveContents(of: link, in: tree) }
        for link in hardLinks { resolve(link, in: tree, &faults) }
        return (SpooledTree(name: name, folders: sorted, files: files, links: targets, bytes: bytes), faults)
    }

    /// Sorts the entries by name, and keeps of several with one name a folder or else the last one.
    private static func settle(_ folder: inout Folder, _ faults: inout [Fault]) {
        var entries = FolderEntries()
        swap(&entries, &folder.entries)
        entries.sort()
        entries.keepOne { sorted, same in
            guard let found = same.first(where: { sorted.kind($0) == .folder }) else { return same.upperBound - 1 }
            let path = folder.path + (folder.path.isEmpty ? [] : [UInt8(ascii: "/")]) + sorted.name(found)
            faults.append(.clash(path: String(decoding: path, as: UTF8.self)))
            return found
        }
        folder.entries = entries
    }

    /// Returns the file that a hard link leads to. Returns `nil` for any error, because each means that there is none.
    private static func target(of link: HardLink, in tree: SpooledTree) -> Int? {
        try? tree.file(at: link.target.bytes, below: SpooledTree.root)
    }

    /// Assigns the contents of a link to an empty target, because a cpio archive has the contents with the last name.
    private mutating func moveContents(of link: HardLink, in tree: SpooledTree) {
        guard case .spooled(_, 1...) = files[link.file], let target = Self.target(of: link, in: tree),
            case .spooled(_, 0) = files[target]
        else { return }
        files[target] = files[link.file]
    }

    /// Assigns the contents of the target to an empty link.
    private mutating func resolve(_ link: HardLink, in tree: SpooledTree, _ faults: inout [Fault]) {
        guard case .spooled(_, 0) = files[link.file] else { return }
        guard let target = Self.target(of: link, in: tree), target != link.file else {
            return faults.append(.deadLink(path: link.path, target: link.target))
        }
        files[link.file] = files[target]
        if files[target] == .leftOut { faults.append(.leftOutTarget(path: link.path, target: link.target)) }
    }
}
