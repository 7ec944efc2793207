import Glibc

/// Paths as the system resolves them.
public enum RealPath {
    /// The path of a file or folder without links and dots, from the root of all files; nil if there is none.
    public static func of(_ path: String) -> String? { try? resolved(path) }

    /// Returns the absolute path of a file or folder, without symbolic links and dots.
    /// - Throws: ``FileError`` with the code `EILSEQ` if the resolved path is not UTF-8.
    public static func resolved(_ path: String) throws(FileError) -> String {
        guard let found = realpath(path, nil) else { throw FileError(.open, path) }
        defer { free(found) }
        guard let text = String(validatingCString: found) else { throw FileError(.open, path, code: EILSEQ) }
        return text
    }
}
