import Bundle
import Telemetry

/// What a scan found, added up by app: all containers of an app are one entry, those of its group and all captures too.
struct AppRollUp {
    /// What containers are put together by. What no capture identifies goes by the name that its records tell.
    enum Key: Hashable {
        case id(String)
        case name(String)
        case unknown
    }

    /// The apps, by name and identifier; what is of no known app comes last.
    let entries: [AppEntry]

    /// Adds up rows whose counts are final.
    /// - Parameters:
    ///   - containerCount: The number of containers, which is greater than each container's number.
    ///   - apps: The apps of the same containers.
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
            let id = container.applicationID ?? container.applicationOfGroup ?? container.identifier
        {
            return .id(id)
        }
        let app = apps.app(of: row)
        return app?.id.map(Key.id) ?? app?.name.map(Key.name) ?? .unknown
    }

    /// How entries are shown to people, one for each: an identifier tells those apart that have the same name.
    var names: [String] {
        let counts = Dictionary(entries.map { ($0.shortName, 1) }, uniquingKeysWith: +)
        return entries.map { entry in
            let versions = entry.versions.count
            let version =
                versions == 1 ? " \(entry.versions.first ?? "")" : versions > 1 ? ", \(versions) versions" : ""
            let isShared = counts[entry.shortName] ?? 0 > 1
            let id = isShared && entry.name != nil ? entry.id.map { " (\($0))" } ?? "" : ""
            return entry.shortName + version + id
        }
    }
}

extension AppRollUp.Key {
    /// Whether it tells more of the app than another one.
    fileprivate func isMoreSpecific(than other: AppRollUp.Key?) -> Bool {
        switch (self, other) {
        case (_, nil), (.id, .name), (.id, .unknown), (.name, .unknown): true
        case (.id, .id), (.name, .id), (.name, .name), (.unknown, _): false
        }
    }
}
