import Console

/// A check whether the name of an output suggests a format other than the format that `convert` writes.
enum OutputName {
    /// The names of formats other than NDJSON, by file extension.
    private static let otherFormats = [
        "bz2": "bzip2", "csv": "CSV", "db": "SQLite", "duckdb": "DuckDB", "gz": "gzip", "html": "HTML",
        "json": "one JSON value", "parq": "Parquet", "parquet": "Parquet", "sqlite": "SQLite", "sqlite3": "SQLite",
        "tar": "tar", "tsv": "TSV", "xlsx": "Excel", "xml": "XML", "xz": "xz", "zip": "zip",
    ]

    /// The file extensions that select a format or compression.
    private static let knownExtensions = ["sqlite", "sqlite3", "db", "csv", "parquet", "ndjson", "jsonl", "zst"]

    /// Returns the known extension, such as `.csv`, that is probably meant if the extension of `path` is misspelled.
    ///
    /// Returns `nil` if `path` has no extension, or if its extension is known, belongs to another format, or is not
    /// similar to a known extension.
    static func suggestedExtension(for path: String) -> String? {
        let name = path.lowercased()
        guard let dot = name.lastIndex(of: "."), !name[dot...].contains("/") else { return nil }
        let fileExtension = String(name[name.index(after: dot)...])
        guard !knownExtensions.contains(fileExtension), otherFormats[fileExtension] == nil else { return nil }
        return SimilarWords.matches(for: fileExtension, among: knownExtensions).first.map { ".\($0)" }
    }

    /// Returns a warning if the NDJSON output at `path` has the extension of another format, or `nil` if it does not.
    static func warning(for path: String) -> String? {
        var name = path.lowercased()
        let isCompressed = name.hasSuffix(".zst")
        if isCompressed { name.removeLast(".zst".count) }
        guard let dot = name.lastIndex(of: "."), let suggested = otherFormats[String(name[name.index(after: dot)...])]
        else {
            return nil
        }
        let written = "\(isCompressed ? "compressed " : "")NDJSON, one record per line"
        return "\(path): contains \(written), not \(suggested) as its name suggests"
    }
}
