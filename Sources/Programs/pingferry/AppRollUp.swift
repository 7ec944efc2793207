import Bundle
import Bytes
import Telemetry

/// The findings of a scan, grouped by app and combined from the containers of all captures.
struct AppRollUp {
    /// The key by which containers are combined, preferably the bundle id and otherwise the name of the app.
    enum Key: Hashable {
        case id(CapturedText)
        case name(CapturedText)
        case unknown
    }

    /// The apps, sorted by name and bundle id, with the entry for unknown apps at the end.
    let entries: [AppEntry]

    /// Creates a roll-up of the findings in `rows`, whose counts must be final.
    init(_ rows: some Sequence<ScanRow>, containerCount: Int, _ apps: ContainerApps) {
        var known = NumberedValues<Key>()
        var keys: [UInt32?] = Array(repeating: nil, count: containerCount)
        for row in rows {
            let key = Self.key(of: row, apps)
            let other = keys[row.containerNumber].map { known[$0] }
            if key.isMoreSpecific(than: other) { keys[row.containerNumber] = known.number(of: key) }
        }
        var entries: [Key: AppEntry] = [:]
        var isCounted = Array(repeating: false, count: keys.count)
        for row in rows {
            let key = keys[row.containerNumber].map { known[$0] } ?? .unknown
            if !isCounted[row.containerNumber] { entries[key, default: AppEntry(key)].countContainer(of: row) }
            isCounted[row.containerNumber] = true
            entries[key]?.add(row, app: apps.app(of: row))
        }
        self.entries = entries.values.sorted { $0.precedes($1) }
    }

    private static func key(of row: ScanRow, _ apps: ContainerApps) -> Key {
        if let container = row.container,
            let id = container.applicationID ?? container.groupApplicationID ?? container.identifier
        {
            return .id(CapturedText(id))
        }
        let app = apps.app(of: row)
        return app?.id.map { .id(CapturedText($0)) } ?? app?.name.map { .name(CapturedText($0)) } ?? .unknown
    }

    /// The display names of ``entries``, with versions, and with bundle ids if several apps have the same name.
    var names: [String] {
        let counts = Dictionary(entries.map { (CapturedText($0.shortName), 1) }, uniquingKeysWith: +)
        return entries.map { entry in
            let versions = entry.versions.count
            let version =
                versions == 1 ? " \(entry.versions.first?.string ?? "")" : versions > 1 ? ", \(versions) versions" : ""
            let isShared = counts[entry.shortName] ?? 0 > 1
            let id = isShared && entry.name != nil ? entry.id.map { " (\($0))" } ?? "" : ""
            return entry.shortName + version + id
        }
    }
}

extension AppRollUp.Key {
    /// Returns whether this key identifies an app more precisely than `other`.
    fileprivate func isMoreSpecific(than other: AppRollUp.Key?) -> Bool {
        switch (self, other) {
        case (_, nil), (.id, .name), (.id, .unknown), (.name, .unknown): true
        case (.id, .id), (.name, .id), (.name, .name), (.unknown, _): false
        }
    }
}
