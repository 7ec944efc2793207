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
