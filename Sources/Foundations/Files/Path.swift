import Bytes
import CLibrary

/// Functions that split paths.
///
/// They compare bytes rather than characters, because a slash and a following combining character form one `Character`.
public enum Path {
    private static let separator = UInt8(ascii: "/")

    /// Returns the part of `path` after the last slash, or `path` if it has no slash.
    public static func name(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: separator) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    /// Returns the last part of `path` that is neither empty nor `.`, or `path` if there is none.
    public static func lastName(of path: String) -> String {
        parts(of: path).last { $0 != "." } ?? path
    }

    /// Returns the parts of `path` between its slashes, without empty parts.
    public static func parts(of path: String) -> [String] {
        path.utf8.split(separator: separator).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the part of `path` before the last slash, or `nil` if `path` has no slash.
    public static func parent(of path: String) -> String? {
        path.utf8.lastIndex(of: separator).map { String(path[..<$0]) }
    }

    /// Returns the path of the parent folder: `.` if `path` has no slash, and `/` for an entry of the root folder.
    public static func folder(of path: String) -> String {
        guard let parent = parent(of: path) else { return "." }
        return parent.isEmpty ? "/" : parent
    }

    /// Returns the path of the entry `name` in the folder at the path `folder`.
    ///
    /// `folder` must be a result of `folder(of:)`.
    public static func entry(_ name: String, of folder: String) -> String {
        switch folder {
        case ".": name
        case "/": "/\(name)"
        default: "\(folder)/\(name)"
        }
    }

    /// Returns `path` without trailing slashes, except for the slash of the root folder.
    public static func withoutTrailingSlashes(_ path: String) -> String {
        var rest = path.utf8[...]
        while rest.count > 1, rest.last == separator { rest = rest.dropLast() }
        return String(Substring(rest))
    }

    /// Returns the bytes of `path` before and after the last slash, or an empty folder if `path` has no slash.
    static func split(_ path: [UInt8]) -> (folder: ArraySlice<UInt8>, name: ArraySlice<UInt8>) {
        guard let slash = path.lastIndex(of: separator) else { return ([], path[...]) }
        return (path[..<slash], path[(slash + 1)...])
    }
}

/// Resolution of paths by the operating system.
public enum RealPath {
    /// Returns the absolute path of the file or folder at `path` without symbolic links, or `nil` if it cannot be
    /// resolved.
    public static func of(_ path: String) -> String? { try? resolved(path) }

    /// Returns the absolute path of the file or folder at `path` without symbolic links.
    ///
    /// - Throws: `FileError`, such as `EILSEQ` if the resolved path is not UTF-8.
    public static func resolved(_ path: String) throws(FileError) -> String {
        guard let found = realpath(path, nil) else { throw FileError(.open, path) }
        defer { free(found) }
        guard let text = String(validatingCString: found) else { throw FileError(.open, path, code: EILSEQ) }
        return text
    }
}

/// The device and inode number that identify a file regardless of its name.
public struct FileIdentity: Hashable, Sendable {
    /// The device (`st_dev`).
    public let device: UInt64
    /// The inode number (`st_ino`).
    public let inode: UInt64

    /// Creates an identity from the numbers that `stat` returns.
    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    /// Creates the identity of the file at `path`, or returns `nil` if the file does not exist.
    public init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        self.init(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
    }
}

/// The identity of a path, by which paths are compared that may refer to the same file.
///
/// A file that exists is identified by its device and inode number. Therefore, all its links and spellings have the same
/// identity. A file that does not exist is identified by the identity of its folder and by its name. Names that differ
/// only in letter case or in Unicode normalization are equal then, because some file systems do not distinguish them.
public indirect enum PathIdentity: Hashable, Sendable {
    /// A regular file or a folder.
    case existing(FileIdentity)
    /// A file that does not exist.
    case missing(folder: PathIdentity?, name: String)

    /// The maximum number of symbolic links that are followed, as in Linux.
    private static let maximumLinkCount = 40

    /// Creates the identity of `path`.
    ///
    /// Returns `nil` if `path` is empty, or refers to a pipe, a socket or a device, which several options can share.
    public init?(path: String) { self.init(path: path, linkCount: 0) }

    private init?(path: String, linkCount: Int) {
        guard !path.isEmpty, linkCount < Self.maximumLinkCount else { return nil }
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.isRegular || status.isFolder else { return nil }
            self = .existing(FileIdentity(status))
            return
        }
        let trimmed = Path.withoutTrailingSlashes(path)
        let folder = Path.folder(of: trimmed)
        if let text = Folder.text(ofLink: trimmed, in: AT_FDCWD) {
            let target = String(decoding: text, as: UTF8.self)
            self.init(path: target.hasPrefix("/") ? target : "\(folder)/\(target)", linkCount: linkCount + 1)
        } else {
            let isRoot = trimmed == "/" || trimmed == "."
            self = .missing(
                folder: isRoot ? nil : PathIdentity(path: folder, linkCount: linkCount),
                name: Path.lastName(of: trimmed).lowercased())
        }
    }
}

/// Labels that identify the inputs of a command, for example in records and receipts.
///
/// A label consists of as many trailing components of a path as are needed to distinguish the inputs.
///
/// ```swift
/// let labels = PathLabels.labels(ofPaths: ["a/AppData", "b/AppData", "phone/"])
/// ```
public enum PathLabels {
    static let standardInput = "stdin"

    /// Returns unique labels for the inputs at `paths`, in the same order.
    ///
    /// `resolve` returns the real path of a path that does not end with a name, such as `.` or `..`.
    public static func labels(
        ofPaths paths: [String], resolve: (String) -> String? = { RealPath.of($0) }
    ) -> [String] {
        let names = paths.map { path in
            (path == "-" ? [standardInput] : parts(of: path, resolve: resolve)).map { CapturedText($0) }
        }
        // Equal paths cannot be distinguished by further components.
        let different = Array(Set(names))
        let labels = Dictionary(uniqueKeysWithValues: zip(different, shortestDistinctLabels(different)))
        return numbered(names.compactMap { labels[$0] }).map(\.string)
    }

    /// Returns the name of the file or folder at `path`, even if `path` ends with `.` or `..`.
    public static func name(ofPath path: String) -> String {
        parts(of: path, resolve: { RealPath.of($0) }).last ?? path
    }

    /// Returns the components of `path` without empty components and single dots.
    ///
    /// If `path` does not end with a name, the components of its real path are returned. The first component of an
    /// absolute path is `/`.
    private static func parts(of path: String, resolve: (String) -> String?) -> [String] {
        var named = split(path)
        if named.last ?? ".." == ".." || named == ["/"], let real = resolve(path) { named = split(real) }
        return named.isEmpty ? [path] : named
    }

    private static func split(_ path: String) -> [String] {
        (path.utf8.first == UInt8(ascii: "/") ? ["/"] : []) + Path.parts(of: path).filter { $0 != "." }
    }

    /// Returns the shortest suffix of each path that distinguishes it from the other paths.
    private static func shortestDistinctLabels(_ names: [[CapturedText]]) -> [CapturedText] {
        var counts = names.map { _ in 1 }
        while true {
            let labels = zip(names, counts).map { Self.join($0.suffix($1)) }
            let same = Dictionary(grouping: labels.indices) { labels[$0] }.values.filter { $0.count > 1 }
            let extended = same.joined().filter { counts[$0] < names[$0].count }
            guard !extended.isEmpty else { return labels }
            for index in extended { counts[index] += 1 }
        }
    }

    private static func join(_ parts: ArraySlice<CapturedText>) -> CapturedText {
        let start = parts.first == "/" && parts.count > 1 ? "/" : ""
        return CapturedText(start + parts.dropFirst(start.count).map(\.string).joined(separator: "/"))
    }

    private static func numbered(_ labels: [CapturedText]) -> [CapturedText] {
        var taken = Set(labels)
        var seen: Set<CapturedText> = []
        return labels.map { label in
            if seen.insert(label).inserted { return label }
            var number = 2
            while !taken.insert("\(label)#\(number)").inserted { number += 1 }
            return "\(label)#\(number)"
        }
    }
}
