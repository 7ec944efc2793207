import Glibc

/// Paths as the system resolves them.
public enum RealPath {
    /// The path of a file or folder without links and dots, from the root of all files; nil if there is none.
    public static func of(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(validatingCString: found)
    }
}
