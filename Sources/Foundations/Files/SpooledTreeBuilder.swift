import Bytes

/// A builder that creates a ``SpooledTree`` from the members of an archive or the rows of a backup.
public struct SpooledTreeBuilder {
    /// An archive member that extraction would not create, or would create differently.
    public enum Fault {
        /// A file, link or special file with the same path as a folder.
        case pathConflict(path: String)
        /// Several files with the same path and different contents, of which only the last one is kept.
        case repeatedName(path: String)
        /// A hard link whose target is not a file in the archive.
        case danglingHardLink(path: MemberPath, target: MemberPath)
        /// A hard link whose target was not kept.
        case omittedTarget(path: MemberPath, target: MemberPath)
    }

    private struct Folder {
        var path: [UInt8]
        var entries: [FolderEntry] = []
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

    /// Creates a builder with an empty root folder.
    public init() {}

    /// The number of entries.
    public private(set) var entryCount = 0
    /// The total length of the names and folder paths, in bytes.
    public private(set) var nameByteCount = 0
    private var folders = [Folder(path: [])]
    private var folderIndices: [FolderName: Int] = [:]
    /// The contents of the files.
    ///
    /// All files that were not kept share the first element.
    private var files: [SpooledTree.Contents] = [.omitted]
    private var hardLinks: [HardLink] = []
    /// The targets of the symbolic links.
    ///
    /// All links with unknown targets share the first element.
    private var linkTargets: [[UInt8]] = [[]]
    /// The index of the folder that was used last.
    ///
    /// This folder is compared first, because adjacent members are usually in the same folder.
    private var lastFolder = SpooledTree.root

    /// Adds a folder.
    public mutating func addFolder(_ path: MemberPath) {
        lastFolder = folder(at: path.bytes[...])
    }

    /// Adds a file.
    ///
    /// If several members have the same path, the last one is used, as in extraction.
    public mutating func addFile(_ path: MemberPath, _ contents: SpooledTree.Contents) {
        add(path, .file, fileIndex(for: contents))
    }

    private mutating func fileIndex(for contents: SpooledTree.Contents) -> Int {
        guard contents != .omitted else { return 0 }
        files.append(contents)
        return files.count - 1
    }

    /// Adds a symbolic link with the stored target `target`.
    ///
    /// `target` is empty if the target is unknown.
    public mutating func addLink(_ path: MemberPath, to target: [UInt8]) {
        guard !target.isEmpty else { return add(path, .link, 0) }
        linkTargets.append(target)
        nameByteCount += target.count
        add(path, .link, linkTargets.count - 1)
    }

    /// Adds a pipe, device or socket.
    public mutating func addSpecial(_ path: MemberPath) { add(path, .special, 0) }

    /// Adds a hard link to the file at the path `target`.
    ///
    /// If `contents` are not empty and the target has no contents, `contents` are assigned to the target, too.
    public mutating func addHardLink(_ path: MemberPath, to target: MemberPath, _ contents: SpooledTree.Contents) {
        let file = fileIndex(for: contents)
        add(path, .file, file)
        hardLinks.append(HardLink(path: path, file: file, target: target))
    }

    private mutating func add(_ path: MemberPath, _ kind: FolderEntry.Kind, _ index: Int) {
        let (parent, name) = path.split
        guard !name.isEmpty else { return }
        lastFolder = folder(at: parent)
        append(name, kind, index, to: lastFolder)
    }

    private mutating func append(_ name: ArraySlice<UInt8>, _ kind: FolderEntry.Kind, _ index: Int, to folder: Int) {
        entryCount += 1
        nameByteCount += name.count
        folders[folder].entries.append(FolderEntry(name: name, kind: kind, inode: UInt64(index)))
    }

    /// Returns the index of the folder at `path`, and creates the folder if it does not exist.
    private mutating func folder(at path: ArraySlice<UInt8>) -> Int {
        let lastPath = folders[lastFolder].path
        if lastPath.span.equals(path.span) { return lastFolder }
        var folder = SpooledTree.root
        for part in path.split(separator: UInt8(ascii: "/")) {
            let name = FolderName(parent: folder, name: Array(part))
            if let index = folderIndices[name] {
                folder = index
                continue
            }
            let index = folders.count
            folders.append(Folder(path: Array(path[..<part.endIndex])))
            nameByteCount += part.endIndex - path.startIndex
            folderIndices[name] = index
            append(part, .folder, index, to: folder)
            folder = index
        }
        return folder
    }
}

// MARK: - The tree

extension SpooledTreeBuilder {
    /// Returns the finished tree and the faults of the archive.
    ///
    /// - Parameters:
    ///   - name: The path of the archive or backup, for error messages.
    ///   - byteStorage: The storage of the bytes.
    /// - Returns: The tree, without hard links whose target is missing or omitted, and the faults.
    public consuming func finish(name: String, byteStorage: SpooledTree.ByteStorage) -> (
        tree: SpooledTree, faults: [Fault]
    ) {
        var faults: [Fault] = []
        let sorted = folders.indices.map { index in
            defer { folders[index].entries = [] }
            return sortedEntries(of: folders[index], byteStorage, &faults)
        }
        var tree = SpooledTree(
            name: name, folders: consume sorted, files: files, links: linkTargets, byteStorage: byteStorage)
        for link in hardLinks { moveContents(of: link, in: tree) }
        let unresolved = Set(hardLinks.filter { !resolve($0, in: tree, &faults) }.map(\.file))
        if !unresolved.isEmpty {
            for index in tree.folders.indices {
                tree.folders[index].removeAll { $0.kind == .file && unresolved.contains(Int($0.inode)) }
            }
        }
        tree.files = files
        return (tree, faults)
    }

    /// Returns the entries in the order of their names, with only one entry for each name.
    ///
    /// If several entries have the same name, the folder is kept and a fault is added. If none of them is a folder, the
    /// last entry is kept, and a fault is added if the contents of an earlier file differ.
    private func sortedEntries(
        of folder: Folder, _ byteStorage: SpooledTree.ByteStorage, _ faults: inout [Fault]
    ) -> [FolderEntry] {
        var kept: [FolderEntry] = []
        kept.reserveCapacity(folder.entries.count)
        let entries = folder.entries.span
        // Positions are sorted, because moving entries counts the references to their names.
        let order = entries.indices.sorted { FolderEntry.precedes(entries[$0], entries[$1]) }
        var rest = order.map { folder.entries[$0] }[...]
        while let first = rest.first {
            let same = rest.prefix { $0.name == first.name }
            rest = rest.dropFirst(same.count)
            let subfolder = same.first { $0.kind == .folder }
            let last = subfolder ?? same.last ?? first
            kept.append(last)
            guard same.count > 1 else { continue }
            let bytes = folder.path + (folder.path.isEmpty ? [] : [UInt8(ascii: "/")]) + first.name
            let path = String(decoding: bytes, as: UTF8.self)
            if subfolder != nil {
                faults.append(.pathConflict(path: path))
            } else if same.contains(where: { $0.kind == .file && !haveEqualContents($0, last, byteStorage) }) {
                faults.append(.repeatedName(path: path))
            }
        }
        return kept
    }

    /// Returns whether two entries are files with the same contents.
    ///
    /// The contents of omitted files are unknown, and assumed to be the same.
    private func haveEqualContents(
        _ left: FolderEntry, _ right: FolderEntry, _ byteStorage: SpooledTree.ByteStorage
    ) -> Bool {
        guard left.kind == right.kind else { return false }
        switch (files[Int(left.inode)], files[Int(right.inode)], byteStorage) {
        case (.spooled(let left, let leftCount), .spooled(let right, let rightCount), .spool(let spool)):
            guard leftCount == rightCount, left != right else { return leftCount == rightCount }
            let others = ByteSource(spool, at: right, count: rightCount)
            var areEqual = true
            do throws(FileError) {
                try ByteSource(spool, at: left, count: leftCount).forEachChunk { bytes, offset throws(FileError) in
                    let other = areEqual ? try others.bytes(at: offset, count: bytes.count) : []
                    areEqual = bytes == other
                }
                return areEqual
            } catch {
                return false
            }
        case (let left, let right, _): return left == right
        }
    }

    /// Returns the index in `files` of the target of a hard link, or `nil` if there is no such file.
    private static func target(of link: HardLink, in tree: SpooledTree) -> Int? {
        try? tree.file(at: link.target.bytes, below: SpooledTree.root)
    }

    /// Assigns the contents of a hard link to its target if the target has no contents.
    ///
    /// In cpio archives, the contents are stored with the last link.
    private mutating func moveContents(of link: HardLink, in tree: SpooledTree) {
        guard case .spooled(_, 1...) = files[link.file], let target = Self.target(of: link, in: tree),
            case .spooled(_, 0) = files[target]
        else { return }
        files[target] = files[link.file]
    }

    /// Assigns the contents of the target to `link` if `link` is empty.
    ///
    /// Returns `false` and adds a fault if the target is missing or omitted.
    private mutating func resolve(_ link: HardLink, in tree: SpooledTree, _ faults: inout [Fault]) -> Bool {
        guard case .spooled(_, 0) = files[link.file] else { return true }
        guard let target = Self.target(of: link, in: tree), target != link.file else {
            faults.append(.danglingHardLink(path: link.path, target: link.target))
            return false
        }
        files[link.file] = files[target]
        guard files[target] == .omitted else { return true }
        faults.append(.omittedTarget(path: link.path, target: link.target))
        return false
    }
}

// MARK: - Paths

/// The path of an extracted archive member, relative to the folder into which the archive would be extracted.
public struct MemberPath: Hashable, Sendable {
    /// The bytes of the normalized path, which has no empty, `.` or `..` parts and is empty for the folder itself.
    public let bytes: [UInt8]

    /// The reason why a path is rejected.
    public enum PathError: Error {
        /// The path contains `..`.
        case leavesRoot
        /// The path exceeds the maximum length or number of parts.
        case tooLong
    }

    /// Normalizes the path that is stored in an archive.
    ///
    /// As in tar, a leading slash, empty parts and `.` are removed.
    public init(_ stored: [UInt8]) throws(PathError) {
        guard stored.count <= InputLimits.pathSize else { throw .tooLong }
        let slash = UInt8(ascii: "/")
        var depth = 0
        var start = 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(stored.count)
        while start <= stored.count {
            let end = stored.span.firstIndex(of: slash, from: start) ?? stored.count
            let part = stored[start..<end]
            start = end + 1
            switch Self.dotCount(of: part.span) {
            case nil:
                if depth > 0 { bytes.append(slash) }
                bytes.append(contentsOf: part)
                depth += 1
            case 2: throw .leavesRoot
            default: continue
            }
        }
        guard depth <= InputLimits.pathDepth else { throw .tooLong }
        self.bytes = bytes
    }

    /// Returns the length of a part that is empty, `.` or `..`, or `nil` for any other part.
    private static func dotCount(of part: Span<UInt8>) -> Int? {
        guard part.count <= 2 else { return nil }
        for index in part.indices where part[index] != UInt8(ascii: ".") { return nil }
        return part.count
    }

    /// The path of the parent folder, and the name of the member.
    public var split: (folder: ArraySlice<UInt8>, name: ArraySlice<UInt8>) { Path.split(bytes) }

    /// The path as a string, with U+FFFD in place of malformed UTF-8.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
