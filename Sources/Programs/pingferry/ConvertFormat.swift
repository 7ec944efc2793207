import ArgumentParser

/// A format that `convert` writes.
enum ConvertFormat: String, ExpressibleByArgument, CaseIterable {
    case ndjson, sqlite, csv, parquet, timesketch

    /// Creates the format that the file extension of `name` selects, or NDJSON for any other extension.
    init(name: String) {
        let extensions: [(ConvertFormat, [String])] = [
            (.sqlite, [".sqlite", ".sqlite3", ".db"]), (.parquet, [".parquet", ".parquet/"]), (.csv, [".csv", "/"]),
            (.timesketch, [".timeline.jsonl"]),
        ]
        self = extensions.first { $0.1.contains { name.hasSuffix($0) } }?.0 ?? .ndjson
    }

    /// Whether the format can be written to a pipe.
    var isStream: Bool {
        switch self {
        case .ndjson, .timesketch: true
        case .sqlite, .csv, .parquet: false
        }
    }

    /// Whether the output is a folder.
    var isFolder: Bool {
        switch self {
        case .csv, .parquet: true
        case .ndjson, .sqlite, .timesketch: false
        }
    }
}
