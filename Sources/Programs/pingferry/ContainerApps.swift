import Telemetry

/// What the stores of captures tell of the apps in whose containers they lie.
struct ContainerApps {
    /// A name within a capture.
    private struct Place: Hashable {
        let capture: String
        let name: String

        init(_ capture: String, _ name: String) {
            self.capture = capture
            self.name = name
        }
    }

    private var known = NumberedValues<App>()
    /// The numbers of the newest apps, by the paths of their containers.
    private var apps: [Place: UInt32] = [:]
    /// Paths of the containers, by bundle id of the app.
    private var paths: [Place: String] = [:]

    /// Learns from rows whose records are all counted.
    init(_ rows: some Sequence<ScanRow>) {
        for row in rows {
            guard let container = row.container else { continue }
            let place = Place(row.capture, container.path)
            // One that is named is known better than one that only has a version.
            if let app = row.app, app.version != nil, app.name != nil || apps[place] == nil {
                apps[place] = known.number(of: app)
            }
            if let id = container.applicationID { paths[Place(row.capture, id)] = container.path }
        }
    }

    /// What is known of the app of a row; a store with pings in its container, or in that of the app that a group belongs
    /// to, knows it best.
    func app(of row: ScanRow) -> App? {
        if row.app?.version != nil { return row.app }
        guard let container = row.container else { return row.app }
        let number =
            apps[Place(row.capture, container.path)] ?? appContainer(of: row).flatMap { apps[Place(row.capture, $0)] }
        return number.map { known[$0] } ?? row.app
    }

    /// Path of the container of the app that a group container belongs to.
    func appContainer(of row: ScanRow) -> String? {
        row.container?.applicationOfGroup.flatMap { paths[Place(row.capture, $0)] }
    }
}
