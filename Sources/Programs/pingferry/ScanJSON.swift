import Bundle
import Bytes
import Console
import JSONText
import Telemetry

/// The JSON output of a scan.
struct ScanJSON {
    private let report: ScanReport
    private let apps: ContainerApps

    /// Creates the output for a finished report.
    init(_ report: ScanReport) {
        self.report = report
        apps = report.containerApps
    }

    /// Calls `body` with an object for each part of a store, each bundle and each request log.
    func forEachStore(_ body: (CanonicalObject) throws -> Void) rethrows {
        for row in report.rows { try body(object(of: row)) }
    }

    var appEntries: [CanonicalObject] { report.rollUp(apps).entries.map(\.json) }

    var backups: [CanonicalObject] { report.inputs.flatMap(\.backups).map { BackupReport($0).json } }

    private func object(of row: ScanRow) -> CanonicalObject {
        var object = CanonicalObject()
        object.set("app", canonical: Self.json(of: apps.app(of: row)))
        object.set("appContainer", string: apps.appContainer(of: row))
        object.set("capture", string: row.capture)
        object.set("container", string: row.container?.path)
        object.set("containerID", string: row.container?.identifier)
        object.set("events", object: row.eventCounts.json)
        object.set("facts", strings: row.details.facts)
        object.set("held", object: CanonicalObject(counts: row.totals.holds))
        object.set("kind", string: row.kind)
        object.set("path", string: row.path)
        object.set("problems", elements: row.details.problems.map(\.json.bytes))
        object.set("quarantineCount", integer: row.quarantineCount)
        object.set("quarantined", elements: row.details.quarantined.map(\.jsonWithCode.bytes))
        if let events = row.details.pendingEvents {
            object.set("pendingEvents", object: CanonicalObject(counts: events))
        }
        if let queue = row.details.queue { object.set("queue", object: queue.json) }
        object.set("records", integer: row.totals.records)
        object.set("systems", strings: row.systems.sortedStrings)
        object.set("types", object: CanonicalObject(counts: row.totals.types))
        object.set("uploadable", integer: row.totals.uploadableCount)
        object.set("usageData", string: row.usageData?.state.rawValue)
        object.set("usageDataText", string: row.usageData?.sentence)
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

extension AppEntry {
    fileprivate var json: CanonicalObject {
        let (facts, others) = commonFacts
        var object = CanonicalObject()
        object.set("captures", integer: captures.count)
        object.set("containers", integer: containerCount)
        object.set("events", object: eventCounts.json)
        object.set("facts", objects: facts) { object, fact in
            object.set("stores", integer: fact.stores)
            object.set("text", string: fact.text)
        }
        object.set("held", object: CanonicalObject(counts: totals.holds))
        object.set("id", string: id)
        object.set("kinds", object: CanonicalObject(counts: kindCounts))
        object.set("name", string: name)
        object.set("otherFacts", integer: others)
        object.set("pendingEvents", object: CanonicalObject(counts: pendingEventCounts))
        object.set("problemCount", integer: problemCount)
        object.set("quarantineCount", integer: quarantineCount)
        object.set("queues", objects: sortedQueues) { object, queues in
            object.set("code", string: queues.state.code)
            object.set("queues", integer: queues.count)
            object.set("readiness", string: queues.state.readiness.rawValue)
            object.set("text", string: queues.state.text)
        }
        object.set("records", integer: totals.records)
        object.set("stores", integer: storeCount)
        object.set("systems", strings: systems.sortedStrings)
        object.set("types", object: CanonicalObject(counts: totals.types))
        object.set("uploadable", integer: totals.uploadableCount)
        object.set("usageData", object: CanonicalObject(counts: usageDataCounts))
        object.set("versions", strings: versions.sortedStrings)
        return object
    }
}
