import Glibc

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
