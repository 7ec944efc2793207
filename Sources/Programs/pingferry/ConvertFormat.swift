import ArgumentParser

/// As what `convert` writes records.
enum ConvertFormat: String, ExpressibleByArgument, CaseIterable {
    case ndjson, sqlite, csv, timesketch

    /// What the name of an output says.
    init(name: String) {
        let endings: [(ConvertFormat, [String])] = [
            (.sqlite, [".sqlite", ".sqlite3", ".db"]), (.csv, [".csv", "/"]), (.timesketch, [".timeline.jsonl"]),
        ]
        self = endings.first { $0.1.contains { name.hasSuffix($0) } }?.0 ?? .ndjson
    }

    /// Whether it can go to a pipe.
    var isStream: Bool {
        switch self {
        case .ndjson, .timesketch: true
        case .sqlite, .csv: false
        }
    }
}
