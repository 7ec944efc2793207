import Files

/// A folder of a capture while it is looked at for stores.
///
/// Hidden entries, and files that are to be left out, are not among its files.
public struct FolderLook: ~Copyable {
    /// The folder's path in the capture.
    public let path: String
    /// The folder's name.
    public let name: String
    /// The beginning of the paths of its entries.
    public let base: String
    /// The names of the plain files.
    public let files: FileNames
    /// The names of the folders.
    public let folders: [[UInt8]]
    /// The files of the whole capture.
    public let tree: FileTree
    /// Files that must not be read, such as the output.
    public let excluded: Set<FileIdentity>

    /// Files that may be stores, but could not be read to see.
    public private(set) var unreadable: [(path: String, error: FileError)] = []
    /// Links and special files in folders below that belong to the store.
    public private(set) var notFiles: [NotFile] = []
    /// Other problems of the folder and its entries, with the path in the capture.
    public private(set) var problems: [(path: String, problem: Problem)] = []
    /// The path of a file that was left out although it belongs to a store.
    public private(set) var leftOutStore: String?
    /// Folders below that belong to the store that this folder is: nobody looks at them again.
    public private(set) var claimedFolders: Set<[UInt8]> = []

    private let folder: Folder
    /// The file that was read last: several formats ask for the same one.
    private var lastRead: (name: [UInt8], contents: [UInt8])?

    /// Looks at a folder.
    public init(
        _ folder: consuming Folder, path: String, name: String, base: String, files: FileNames,
        folders: [[UInt8]], tree: FileTree, excluded: Set<FileIdentity>
    ) {
        self.folder = folder
        self.path = path
        self.name = name
        self.base = base
        self.files = files
        self.folders = folders
        self.tree = tree
        self.excluded = excluded
    }

    /// The path of an entry in the capture.
    public func path(of name: [UInt8]) -> String {
        // Of its own size: a text that is appended to keeps room for as much again, and a capture has many paths.
        String(decoding: Array(base.utf8) + name, as: UTF8.self)
    }

    /// The bytes of a file.
    /// - Throws: `FileError`; `EFBIG` beyond the limit.
    public mutating func contents(of name: [UInt8], limit: Int = StoreLimits.file) throws(FileError) -> [UInt8] {
        if let lastRead, lastRead.name == name, lastRead.contents.count <= limit { return lastRead.contents }
        // Taken out first, so that the memory is used again and not copied.
        var contents = lastRead?.contents ?? []
        lastRead = nil
        try folder.read(name, limit: limit, into: &contents)
        lastRead = (name, contents)
        return contents
    }

    /// A file to be read by position.
    /// - Throws: `FileError`.
    public func source(_ name: [UInt8]) throws(FileError) -> ByteSource { try folder.source(name) }

    /// Whether a file holds some texts. One that may not be read can be anybody's, so that is told; a stranger's file may be
    /// too large, but not one whose `mustFit` is set: what is in it would be missed.
    public mutating func holds(_ name: [UInt8], all texts: [String], mustFit: Bool) -> Bool {
        do throws(FileError) {
            let contents = try contents(of: name)
            return texts.allSatisfy { contents.contains(text: $0) }
        } catch {
            if !error.isTooLarge || mustFit { tell(unreadable: path(of: name), error) }
            return false
        }
    }

    /// Reports that a file or folder that may belong to a store could not be read; each path once.
    public mutating func tell(unreadable path: String, _ error: FileError) {
        guard !unreadable.contains(where: { $0.path == path }) else { return }
        unreadable.append((path, error))
    }

    /// Reports a problem with an entry, such as a folder in the place of a store's file.
    public mutating func tell(_ problem: Problem, of name: [UInt8]) { problems.append((path(of: name), problem)) }

    /// Reports a link or a special file inside the store.
    public mutating func tell(_ notFile: NotFile) { notFiles.append(notFile) }

    /// Reports that a file of the store is left out because it must not be read.
    public mutating func tell(leftOut path: String) { leftOutStore = path }

    /// Claims a folder below for the store that this folder is.
    public mutating func claim(folder name: [UInt8]) { claimedFolders.insert(name) }
}
