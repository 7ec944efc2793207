import Bundle
import Export
import JSONText
import Telemetry

extension ScanReport {
    /// The findings of the report, which must be finished, as rows of the table of stores.
    var exportedStores: some Sequence<ExportedStore> {
        let apps = containerApps
        return rows.lazy.map { ExportedStore($0, app: apps.app(of: $0)) }
    }
}

extension ExportedStore {
    fileprivate init(_ row: ScanRow, app: App?) {
        self.init(capture: row.capture, path: row.path, kind: row.kind)
        hasContainer = row.kind != ScanRow.bundleKind
        system = row.system
        self.app = app
        recordCount = row.totals.records
        uploadableCount = row.totals.uploadableCount
        heldCounts = CanonicalObject(counts: row.totals.holds)
        typeCounts = CanonicalObject(counts: row.totals.types)
        quarantineCount = row.quarantineCount
        problemCount = row.problemCount
        pendingEventCounts = row.details.pendingEvents.map { CanonicalObject(counts: $0) }
        facts = row.details.facts
        usageData = row.usageData?.state
        queue = row.details.queue.map { queue in
            Queue(
                state: queue.state, sentence: queue.sentence,
                // Without a time in the store, the queue is evaluated at the beginning of 1970.
                time: queue.instant == 0 ? nil : Timestamp(milliseconds: queue.instant), json: queue.json)
        }
    }
}
