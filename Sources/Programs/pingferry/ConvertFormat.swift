import ArgumentParser

/// A format that `convert` writes.
enum ConvertFormat: String, ExpressibleByArgument, CaseIterable {
    case ndjson, sqlite, csv, timesketch

    /// Creates the format for an output file according to its file extension.
    init(name: String) {
        let extensions: [(ConvertFormat, [String])] = [
            (.sqlite, [".sqlite", ".sqlite3", ".db"]), (.csv, [".csv", "/"]), (.timesketch, [".timeline.jsonl"]),
        ]
        self = extensions.first { $0.1.contains { name.hasSuffix($0) } }?.0 ?? .ndjson
    }

    /// Whether the format can be written to a pipe.
    var isStream: Bool {
        switch self {
        case .ndjson, .timesketch: true
        case .sqlite, .csv: false
        }
    }
}
