/// The names of temporaries.
enum PartialName {
    /// The maximum length, in bytes, of a name that a database still has room behind for the name of its journal.
    private static let longest = 255 - "-journal".utf8.count

    /// Returns the name of the temporary of an output: `.NAME.partial`. The name of the output is replaced with a hash of it
    /// if that would be longer than file systems accept.
    static func of(_ name: String, suffix: String = ".partial") -> String {
        let usual = ".\(name)\(suffix)"
        guard usual.utf8.count > longest else { return usual }
        // FNV-1a: the same name gives the same temporary in each run, which is locked against others.
        let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return ".\(String(hash, radix: 16))\(suffix)"
    }
}
