import Bundle
import JSONText
import Telemetry

/// A scan as JSON, for machines.
struct ScanJSON {
    private let report: ScanReport
    private let apps: ContainerApps

    /// - Parameter report: a finished one.
    init(_ report: ScanReport) {
        self.report = report
        apps = ContainerApps(report.rows)
    }

    /// An object for each part of a store, each bundle and each request log.
    var stores: [CanonicalObject] { report.rows.map(object) }

    /// An object for each backup.
    var backups: [CanonicalObject] { report.inputs.flatMap(\.backups).map { BackupReport($0).json } }

    private func object(of row: ScanRow) -> CanonicalObject {
        var object = CanonicalObject()
        object.set("app", canonical: Self.json(of: apps.app(of: row)))
        object.set("appContainer", string: apps.appContainer(of: row))
        object.set("capture", string: row.capture)
        object.set("container", string: row.container?.path)
        object.set("containerID", string: row.container?.identifier)
        object.set("events", object: row.labels.json)
        object.set("facts", strings: row.facts)
        object.set("held", object: CanonicalObject(counts: row.totals.holds))
        object.set("kind", string: row.kind)
        object.set("path", string: row.path)
        object.set("problems", elements: row.problems.map(\.json.bytes))
        object.set("quarantineCount", integer: row.quarantineCount)
        object.set("quarantined", elements: row.quarantined.map(\.coded.bytes))
        if let events = row.events { object.set("pendingEvents", object: CanonicalObject(counts: events)) }
        if let queue = row.queue { object.set("queue", object: queue.json) }
        object.set("records", integer: row.totals.records)
        object.set("systems", strings: row.systems.sorted())
        object.set("types", object: CanonicalObject(counts: row.totals.types))
        object.set("uploadable", integer: row.totals.uploadable)
        return object
    }

    private static func json(of app: App?) -> [UInt8] {
        guard let app else { return Array("null".utf8) }
        var object = CanonicalObject()
        for (key, value) in [("id", app.id), ("name", app.name), ("version", app.version)] {
            if let value { object.set(JSONKey(key), string: value) }
        }
        return object.bytes
    }
}
