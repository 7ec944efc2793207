import Bytes
import CLibrary

/// A folder of a capture, either on disk or in an archive or backup.
///
/// Symbolic links in the folder are not followed.
public struct Folder: ~Copyable, Sendable {
    /// The storage of the folder.
    ///
    /// This type is not private, because optimized code of other modules destroys its values.
    enum Storage: ~Copyable, Sendable {
        case disk(Descriptor)
        case spooled(SpooledTree, folder: Int)
    }

    private let storage: Storage
    /// The path for error messages, which is empty for a folder in an archive or backup.
    private let path: String
    /// The record of whether files could not be opened for lack of resources, in this folder or in folders opened from it.
    public let exhaustion: ResourceExhaustion

    /// Opens the folder at `path` on disk, which may be a symbolic link to a folder.
    public init(path: String) throws(FileError) {
        let descriptor = try Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .open, path)
        self.init(.disk(descriptor), path: path)
    }

    /// Opens the folder at `path` on disk, in which no part may be a symbolic link.
    ///
    /// Whoever can write to a medium could otherwise make a link on it lead to another folder of this machine.
    ///
    /// - Throws: `FileError`, with the code `ELOOP` for a symbolic link.
    public init(pathWithoutLinks path: String) throws(FileError) {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        guard !path.isEmpty else { throw FileError(.open, path, code: ENOENT) }
        var descriptor = try Descriptor(open(path.hasPrefix("/") ? "/" : ".", flags), .open, path)
        for part in Path.parts(of: path) {
            let next = openat(descriptor.number, part, flags)
            let code = errno
            if next < 0, descriptor.status(of: part)?.isLink == true {
                throw FileError(.open, path, code: ELOOP, message: "cannot open \(path): \(part) is a symbolic link")
            }
            errno = code
            descriptor = try Descriptor(next, .open, path)
        }
        self.init(.disk(descriptor), path: Path.withoutTrailingSlashes(path))
    }

    /// Creates the root folder of an archive or backup.
    public init(rootOf tree: SpooledTree) {
        self.init(.spooled(tree, folder: SpooledTree.root), path: "")
    }

    private init(_ storage: consuming Storage, path: String, _ exhaustion: ResourceExhaustion = ResourceExhaustion()) {
        self.storage = storage
        self.path = path
        self.exhaustion = exhaustion
    }

    /// Opens the folder at `relativePath`, a path relative to this folder.
    ///
    /// - Throws: `FileError`, such as `ELOOP` or `ENOTDIR` if the last part of the path is a symbolic link.
    public func folder(at relativePath: String) throws(FileError) -> Folder {
        try folder(atStored: try storedPath(of: relativePath))
    }

    /// Opens the folder at `relativePath`, the stored bytes of a path relative to this folder.
    func folder(atStored relativePath: [UInt8]) throws(FileError) -> Folder {
        switch storage {
        case .disk(let descriptor):
            let folderPath = relativePath.isEmpty ? path : fullPath(of: relativePath)
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let name = (relativePath.isEmpty ? [UInt8(ascii: ".")] : relativePath) + [0]
            let opened = Self.openEntry(name, in: descriptor.number, flags)
            guard opened >= 0 else { throw exhaustion.recorded(FileError(.open, folderPath)) }
            return Folder(.disk(try Descriptor(opened, .open, folderPath)), path: folderPath, exhaustion)
        case .spooled(let tree, let folder):
            return Folder(.spooled(tree, folder: try tree.folder(at: relativePath, below: folder)), path: "")
        }
    }

    /// Returns all entries except `.` and `..`, in no particular order.
    public func entries() throws(FileError) -> [FolderEntry] {
        switch storage {
        case .disk(let descriptor):
            do throws(FileError) { return try descriptor.entries(path) } catch { throw exhaustion.recorded(error) }
        case .spooled(let tree, let folder): return tree.entries(of: folder)
        }
    }

    /// Reads a file into an existing array.
    ///
    /// - Parameters:
    ///   - name: The name or relative path as stored in the file system. It must not contain a NUL and need not be
    ///     UTF-8.
    ///   - limit: The maximum size of the file, in bytes.
    ///   - contents: The array, whose contents are replaced with the bytes of the file.
    /// - Throws: `FileError`, such as `EFBIG` if the file exceeds the limit, `ENOTSUP` if it is not a regular file, or
    ///   `ELOOP` if it is a symbolic link.
    public func read(_ name: [UInt8], limit: Int, into contents: inout [UInt8]) throws(FileError) {
        switch storage {
        case .disk(let descriptor):
            try Self.requireFileOrLink(name, in: descriptor.number, path: fullPath(of: name))
            try read(name, of: descriptor, limit: limit, into: &contents)
        case .spooled(let tree, let folder): try tree.read(name, below: folder, limit: limit, into: &contents)
        }
    }

    /// Reads a file that is a regular file according to ``entries()``, like ``read(_:limit:into:)``.
    ///
    /// Its type is not determined again before it is opened, which would take 10 % of the time of a bundle of small files.
    public func readListed(_ name: [UInt8], limit: Int, into contents: inout [UInt8]) throws(FileError) {
        switch storage {
        case .disk(let descriptor): try read(name, of: descriptor, limit: limit, into: &contents)
        case .spooled(let tree, let folder): try tree.read(name, below: folder, limit: limit, into: &contents)
        }
    }

    /// Opens the file at `name`, a stored name or relative path, for reading at any offset.
    ///
    /// - Throws: `FileError`, such as `ENOTSUP` if the file is not a regular file, or `ELOOP` if it is a symbolic link.
    public func source(_ name: [UInt8]) throws(FileError) -> ByteSource {
        switch storage {
        case .disk(let descriptor):
            var status = stat()
            try Self.requireFileOrLink(name, in: descriptor.number, path: fullPath(of: name))
            let file = try regularFile(named: name + [0], of: descriptor, &status)
            return ByteSource(try InputFile(file, path: fullPath(of: name), status: status))
        case .spooled(let tree, let folder): return try tree.source(name, below: folder)
        }
    }

    /// Returns the target of the symbolic link at a path relative to the folder, or `nil` if the path is not a link.
    public func target(ofLink path: [UInt8]) -> LinkTarget? {
        switch storage {
        case .disk(let descriptor): target(ofLink: path, below: descriptor)
        case .spooled(let tree, let folder): tree.target(ofLink: path, below: folder)
        }
    }

    /// Returns the device (`st_dev`) of the folder, or `nil` if the folder is in an archive or backup.
    public func device() throws(FileError) -> UInt64? {
        switch storage {
        case .disk(let descriptor): FileIdentity(try descriptor.status(path)).device
        case .spooled: nil
        }
    }

    private func fullPath(of name: some Collection<UInt8>) -> String {
        "\(path)/\(String(decoding: name, as: UTF8.self))"
    }
}

// MARK: - On disk

extension Folder {
    private func read(
        _ name: [UInt8], of descriptor: borrowing Descriptor, limit: Int, into contents: inout [UInt8]
    ) throws(FileError) {
        contents.removeAll(keepingCapacity: true)
        var status = stat()
        // The array temporarily holds the name with a terminating NUL, which avoids an allocation.
        contents += name
        contents.append(0)
        let file = try regularFile(named: contents, of: descriptor, &status)
        contents.removeAll(keepingCapacity: true)
        guard status.st_size <= limit else { throw FileError(.read, fullPath(of: name), code: EFBIG) }
        let size = Int(status.st_size)
        try contents.append(addingCapacity: size) { output throws(FileError) in
            _ = try file.read(at: 0, upTo: size, into: &output, .read, fullPath(of: name))
        }
    }

    private func target(ofLink path: [UInt8], below descriptor: borrowing Descriptor) -> LinkTarget? {
        let number = descriptor.number
        var (text, status) = ([UInt8](), stat())
        // The target is neither opened nor read. Only its file type is determined.
        let code: Int32? = (path + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                guard let link = characters.baseAddress, let found = Self.text(ofLink: link, in: number) else {
                    return nil
                }
                text = found
                return fstatat(number, link, &status, 0) == 0 ? 0 : errno
            }
        }
        guard let code else { return nil }
        let lexical = LexicalLinkTarget(text, in: path.split(separator: UInt8(ascii: "/")).dropLast().map { Array($0) })
        let destination: LinkTarget.Destination =
            switch code {
            case 0 where status.st_mode & S_IFMT == S_IFDIR: lexical.isEnclosing ? .enclosingFolder : .folder
            case 0: lexical.parts == nil ? .fileOutside : .file
            case ELOOP: .missing
            case ENOENT, ENOTDIR: lexical.parts == nil ? .unknown : .missing
            default: .unknown
            }
        return LinkTarget(path: String(decoding: text, as: UTF8.self), destination: destination)
    }

    /// Returns the path that is stored in the symbolic link `link`, or `nil` if `link` is not a symbolic link.
    static func text(ofLink link: UnsafePointer<CChar>, in folder: Int32) -> [UInt8]? {
        let text = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            count = start.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
                max(0, readlinkat(folder, link, $0, buffer.count))
            }
        }
        return text.isEmpty ? nil : text
    }

    /// Calls `openat` with `name`, which must end with a NUL.
    private static func openEntry(_ name: [UInt8], in folder: Int32, _ flags: Int32) -> Int32 {
        name.withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                characters.baseAddress.map { openat(folder, $0, flags) } ?? -1
            }
        }
    }

    /// Throws an error if `name` is a folder, a pipe, a socket or a device.
    ///
    /// Opening a device can change its state. Opening a pipe can end the process that writes to it.
    private static func requireFileOrLink(
        _ name: [UInt8], in folder: Int32, path: @autoclosure () -> String
    ) throws(FileError) {
        var status = stat()
        let code = (name + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                characters.baseAddress.map { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) } ?? -1
            }
        }
        guard code != 0 || status.isRegular || status.isLink else {
            throw FileError(.read, path(), code: ENOTSUP)
        }
    }

    /// Opens the regular file `name`, which must end with a NUL, and stores the result of `fstat` in `status`.
    private func regularFile(
        named name: [UInt8], of descriptor: borrowing Descriptor, _ status: inout stat
    ) throws(FileError) -> Descriptor {
        // Because of O_NONBLOCK, a pipe that has replaced the file meanwhile does not block.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        let number = Self.openEntry(name, in: descriptor.number, flags)
        guard number >= 0 else { throw exhaustion.recorded(FileError(.open, fullPath(of: name.dropLast()))) }
        let file = try Descriptor(number, .open, path)
        status = try file.status(path)
        guard status.isRegular else { throw FileError(.read, fullPath(of: name.dropLast()), code: ENOTSUP) }
        return file
    }
}

// MARK: - Stored paths

extension Folder {
    /// The UTF-8 encoding of U+FFFD, which replaces malformed bytes in strings.
    private static let replacementCharacter: [UInt8] = [0xEF, 0xBF, 0xBD]

    /// Returns the bytes that are stored for `path`, a decoded path relative to this folder.
    ///
    /// If a part of `path` contains U+FFFD, its parent folder is searched for an entry whose decoded name equals that
    /// part.
    ///
    /// - Throws: `FileError`: `ENOENT` if no entry matches a name, or `EILSEQ` if several entries match.
    func storedPath(of path: String) throws(FileError) -> [UInt8] {
        guard path.utf8.contains(Self.replacementCharacter[0]), path.utf8.contains(Self.replacementCharacter) else {
            return Array(path.utf8)
        }
        var stored: [UInt8] = []
        for part in path.utf8.split(separator: UInt8(ascii: "/")) {
            let name =
                part.contains(Self.replacementCharacter) ? try storedName(of: part, inFolder: stored) : Array(part)
            stored += (stored.isEmpty ? [] : [UInt8(ascii: "/")]) + name
        }
        return stored
    }

    private func storedName(of name: Substring.UTF8View, inFolder path: [UInt8]) throws(FileError) -> [UInt8] {
        let found = try folder(atStored: path).entries().filter { $0.text.utf8.elementsEqual(name) }
        guard let first = found.first, found.count == 1 else {
            throw FileError(.open, String(name) ?? "", code: found.isEmpty ? ENOENT : EILSEQ)
        }
        return first.name
    }
}

/// An entry of a folder.
public struct FolderEntry: Sendable {
    /// The file type of an entry, without following symbolic links.
    public enum Kind: Sendable {
        case file, folder, link, special
    }

    /// The bytes of the name, which need not be UTF-8.
    public let name: [UInt8]
    /// The file type.
    public let kind: Kind
    /// The inode number.
    public let inode: UInt64

    /// Creates an entry.
    public init(name: some Sequence<UInt8>, kind: Kind, inode: UInt64) {
        self.name = Array(name)
        self.kind = kind
        self.inode = inode
    }

    /// The name with U+FFFD in place of malformed UTF-8.
    public var text: String { String(decoding: name, as: UTF8.self) }

    /// Returns whether the name is equal to `text`.
    public func isNamed(_ text: String) -> Bool { name.elementsEqual(text.utf8) }

    /// Returns whether a file called `name` contains information about another file or its folder, as Windows stores it.
    ///
    /// Other systems show a stream of a file as a file whose name contains a colon, or characters that replace the colon.
    public static func isWindowsMetadata(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        // Most names end with other bytes.
        guard let last = name.last, metadataEndings.contains(last | 0x20) else { return false }
        let name = name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let type = Array(":$data".utf8)
        if name.suffix(type.count) == type[...] || folderMetadata.contains(where: { name.elementsEqual($0.utf8) }) {
            return true
        }
        return streams.contains { stream in
            guard name.suffix(stream.utf8.count).elementsEqual(stream.utf8) else { return false }
            let rest = name.dropLast(stream.utf8.count)
            let marks = stream == originStream ? colons + ["_", "."] : colons
            return marks.contains { rest.count > $0.utf8.count && rest.suffix($0.utf8.count).elementsEqual($0.utf8) }
        }
    }

    private static let folderMetadata = ["desktop.ini", "thumbs.db"]
    private static let originStream = "zone.identifier"
    private static let streams = [
        originStream, "com.dropbox.attributes", "com.apple.quarantine", "afp_afpinfo", "afp_resource",
        "oecustomproperty", "encryptable",
    ]
    /// The colon, and the characters that replace it on other file systems.
    private static let colons = [":", "\u{F03A}", "\u{F022}", "%3a"]
    private static let metadataEndings = Set((folderMetadata + streams + ["a"]).compactMap(\.utf8.last))

    /// Returns whether the name of `left` sorts before the name of `right` by its bytes.
    public static func precedes(_ left: FolderEntry, _ right: FolderEntry) -> Bool {
        left.name.lexicographicallyPrecedes(right.name)
    }
}

extension Folder {
    /// Returns the names of all entries except for folders, in the order of their bytes, with U+FFFD in place of
    /// malformed UTF-8.
    public func fileNames() throws(FileError) -> [String] {
        try entries().filter { $0.kind != .folder }.map { CapturedText($0.text) }.sortedStrings
    }
}

extension Descriptor {
    /// Returns the entries of an open folder except `.` and `..`, or throws an error that contains `path`.
    func entries(_ path: String) throws(FileError) -> [FolderEntry] {
        // The directory stream closes its descriptor, so it needs a copy.
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let code = errno
            if copy >= 0 { close(copy) }
            throw FileError(.list, path, code: code)
        }
        defer { closedir(stream) }
        rewinddir(stream)
        var entries: [FolderEntry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileError(.list, path) }
                return entries
            }
            let (type, inode) = (Int(entry.pointee.d_type), UInt64(entry.pointee.d_ino))
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                    let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
                    guard !bytes.elementsEqual(".".utf8), !bytes.elementsEqual("..".utf8) else { return }
                    entries.append(FolderEntry(name: bytes, kind: kind(ofType: type, named: name), inode: inode))
                }
            }
        }
    }

    /// Returns the kind of an entry, even if the file system does not report its type in the listing.
    private func kind(ofType listedType: Int, named name: UnsafePointer<CChar>) -> FolderEntry.Kind {
        var type = listedType
        if type == Int(DT_UNKNOWN) {
            var status = stat()
            guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .special }
            // This is the conversion that the C macro `IFTODT` makes.
            type = Int(status.st_mode & S_IFMT) >> 12
        }
        switch type {
        case Int(DT_REG): return .file
        case Int(DT_DIR): return .folder
        case Int(DT_LNK): return .link
        default: return .special
        }
    }
}
