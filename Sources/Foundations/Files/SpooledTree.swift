import Bytes
import CLibrary

/// The folders and files of an archive or backup.
///
/// The needed members of an archive are stored in a spool file. The files of a backup are opened on demand. The tree
/// behaves like a folder on disk, so that the records do not depend on how a capture was packed.
public struct SpooledTree: Sendable {
    /// The location of the bytes of a file, or the reason why they are missing.
    public enum Contents: Sendable, Equatable {
        /// The bytes are in the spool file.
        case spooled(offset: Int, count: Int)
        /// The bytes were not kept, because the file is not needed.
        case omitted
        /// The file exceeds the size limit for one member.
        case tooLarge
        /// The bytes are not in the spool file, but `ByteStorage.provider` returns them for this number.
        case external(Int)
    }

    static let root = 0

    /// The path of the archive or backup, for error messages.
    let name: String
    /// The folders, beginning with the root.
    ///
    /// Their entries are sorted and have unique names. The inode of an entry is its index in `folders`, `files` or
    /// `links`, depending on its kind.
    var folders: [[FolderEntry]]
    /// The contents of the files.
    var files: [Contents]
    /// The targets of the symbolic links, which are empty if they are unknown.
    let links: [[UInt8]]
    let byteStorage: ByteStorage

    /// The storage of the bytes of all files.
    public enum ByteStorage: Sendable {
        /// The bytes are in a spool file.
        case spool(SpoolFile)
        /// The function returns the bytes of the file with a given number.
        case provider(@Sendable (Int) throws(FileError) -> ByteSource)
    }

    func entries(of folder: Int) -> [FolderEntry] { folders[folder] }

    /// Returns the index of the folder at `path` below the folder `start`, or throws `FileError` with a code of
    /// `openat`.
    func folder(at path: some Collection<UInt8>, below start: Int) throws(FileError) -> Int {
        var folder = start
        for part in path.split(separator: UInt8(ascii: "/")) {
            guard let entry = entry(named: part, in: folder) else { throw error(.open, path, ENOENT) }
            guard entry.kind == .folder else { throw error(.open, path, ENOTDIR) }
            folder = Int(entry.inode)
        }
        return folder
    }

    /// Reads a file as `Folder.read(_:limit:into:)` does.
    func read(_ path: [UInt8], below start: Int, limit: Int, into contents: inout [UInt8]) throws(FileError) {
        contents.removeAll(keepingCapacity: true)
        let source = try source(path, below: start)
        guard source.count <= limit else { throw error(.read, path, EFBIG) }
        try contents.append(addingCapacity: source.count) { output throws(FileError) in
            try source.read(at: 0, into: &output)
        }
    }

    /// Opens the file at `path` below the folder `start` for reading at any offset.
    func source(_ path: [UInt8], below start: Int) throws(FileError) -> ByteSource {
        switch (files[try file(at: path, below: start)], byteStorage) {
        case (.spooled(let offset, let count), .spool(let spool)): return ByteSource(spool, at: offset, count: count)
        case (.external(let number), .provider(let provider)): return try provider(number)
        case (.tooLarge, _): throw error(.read, path, EFBIG)
        case (.omitted, _), (.spooled, _), (.external, _): throw error(.read, path, ENODATA)
        }
    }

    /// Returns the index in `files` of the file at `path`.
    ///
    /// - Throws: `FileError`, with the same codes as `Folder.source(_:)`.
    func file(at path: [UInt8], below start: Int) throws(FileError) -> Int {
        let (parent, name) = Path.split(path)
        let folder = try folder(at: parent, below: start)
        guard let entry = entry(named: name, in: folder) else { throw error(.open, path, ENOENT) }
        switch entry.kind {
        case .file: return Int(entry.inode)
        case .link: throw error(.open, path, ELOOP)
        case .folder, .special: throw error(.read, path, ENOTSUP)
        }
    }

    /// Returns the target of the symbolic link `name`, or `nil` if the folder has no such link.
    ///
    /// An unknown target is empty.
    func link(named name: [UInt8], in folder: Int) -> [UInt8]? {
        guard let entry = entry(named: name, in: folder), entry.kind == .link else { return nil }
        return links[Int(entry.inode)]
    }

    private func entry(named name: some Collection<UInt8>, in folder: Int) -> FolderEntry? {
        let entries = folders[folder]
        let index = entries.indices.partitioningIndex { !entries[$0].name.lexicographicallyPrecedes(name) }
        return index < entries.count && entries[index].name.elementsEqual(name) ? entries[index] : nil
    }

    private func error(_ operation: FileError.Operation, _ path: some Collection<UInt8>, _ code: Int32) -> FileError {
        FileError(operation, "\(name)!\(String(decoding: path, as: UTF8.self))", code: code)
    }
}

extension SpooledTree {
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
        for _ in 0..<InputLimits.linkResolutionSteps {
            guard let part = rest.popLast() else { return .folder }
            if part.elementsEqual("..".utf8) {
                path.removeLast()
                hasAscended = true
                guard !path.isEmpty else { return .unknown }
                continue
            }
            switch entry(named: part, in: path[path.count - 1])?.kind {
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
