/// The names of temporary files and folders.
enum PartialName {
    /// The maximum length of a name in bytes, which leaves space for the suffix that SQLite appends for a journal.
    private static let maximumLength = 255 - "-journal".utf8.count

    /// The end of the names of temporary files.
    private static let suffix = ".partial"

    /// Returns whether `name` is the name of a temporary file for an output with the same extension as `path`.
    static func isPartial(_ name: String, ofOutputLike path: String) -> Bool {
        let fileExtension = Path.name(of: path).split(separator: ".", omittingEmptySubsequences: false).dropFirst().last
        return name.hasPrefix(".") && name.hasSuffix((fileExtension.map { ".\($0)" } ?? "") + suffix)
    }

    /// Returns the temporary name `.NAME.partial` for the output `name`.
    ///
    /// If the temporary name would be too long, NAME is replaced with its hash.
    static func make(for name: String, suffix: String = suffix) -> String {
        let full = ".\(name)\(suffix)"
        guard full.utf8.count > maximumLength else { return full }
        // The hash function is FNV-1a, which returns the same value in each run, so that all runs lock the same file.
        let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return ".\(String(hash, radix: 16))\(suffix)"
    }
}
