import Console

/// The name of an output of `convert`, which may promise a format that is not written.
enum OutputName {
    /// What names with other endings promise, by the ending.
    private static let otherFormats = [
        "bz2": "bzip2", "csv": "CSV", "db": "SQLite", "duckdb": "DuckDB", "gz": "gzip", "html": "HTML",
        "json": "one JSON value",
        "parquet": "Parquet", "sqlite": "SQLite", "sqlite3": "SQLite", "tar": "tar", "tsv": "TSV", "xlsx": "Excel",
        "xml": "XML",
        "xz": "xz", "zip": "zip",
    ]

    /// Endings by which formats are knownExtensions.
    private static let knownExtensions = ["sqlite", "sqlite3", "db", "csv", "ndjson", "jsonl", "zst"]

    /// The ending that somebody may have meant, with its point; nil for one that is knownExtensions or similar to none.
    static func suggestedExtension(for path: String) -> String? {
        let name = path.lowercased()
        guard let dot = name.lastIndex(of: "."), !name[dot...].contains("/") else { return nil }
        let ending = String(name[name.index(after: dot)...])
        guard !knownExtensions.contains(ending), otherFormats[ending] == nil else { return nil }
        return SimilarWords.matches(for: ending, among: knownExtensions).first.map { ".\($0)" }
    }

    /// What is said when a file holds something else than its name promises; nil if it does not.
    /// - Parameter path: the output, as it was given.
    static func warning(for path: String) -> String? {
        var name = path.lowercased()
        let isCompressed = name.hasSuffix(".zst")
        if isCompressed { name.removeLast(".zst".count) }
        guard let dot = name.lastIndex(of: "."), let promised = otherFormats[String(name[name.index(after: dot)...])]
        else {
            return nil
        }
        let written = "\(isCompressed ? "compressed " : "")NDJSON, one record a line"
        return "\(path) holds \(written), not \(promised) as its name says; name it .ndjson or .ndjson.zst"
    }
}
