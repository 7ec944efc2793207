import ArgumentParser
import Bundle
import Bytes
import Capture
import Console
import JSONText
import Systems
import Telemetry

/// The command `scan`, which lists the stores in captures and their contents.
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "List the stores found in captures.",
        discussion: """
            Reads the inputs as bundle does, but writes no file. Shows the app, kind and path of each store, its \
            records, the reasons why records are held, and items that could not be parsed. With --json each store also \
            counts its events by documented meaning; undocumented events are counted as unknown.
              pingferry scan phone/

            If there are more than \(AppListing.maximumStoreCount) stores in more than \
            \(AppListing.maximumContainerCount) containers, the stores of each app are combined, also across captures. \
            --stores lists each store. --json contains both stores and apps.
              pingferry scan --stores phones/

            Shows the first 1000 items that could not be parsed, the first 1000 problems, and the number with each \
            code. A bundle contains all of them.

            --inventory lists each app container, with or without stores, and the queues of other telemetry SDKs that \
            are not read, such as Crashlytics, Sentry or Amplitude. They are recognized only by the names of their files \
            and folders. Captures without stores are then accepted if they have containers.
              pingferry scan --inventory phone/

            For queues of events, shows whether they are ready for upload by the rules of the app. This depends on the \
            time. By default, queues are evaluated at the latest time in the store; --at specifies another time.
            """)

    @Option(
        help: ArgumentHelp("The time at which queues are evaluated: a date or an RFC 3339 time.", valueName: "time"))
    var at: String?

    @Flag(help: "List each store, even if there are many.")
    var stores = false

    @Flag(help: "List each app container, and the queues of other SDKs by name.")
    var inventory = false

    @OptionGroup var input: InputOptions

    @Flag(help: "Read the intact parts of damaged bundles.")
    var salvage = false

    @OptionGroup(title: "Encrypted backups") var backups: PasswordOptions
    @OptionGroup(title: "Filters") var filters: FilterOptions
    @OptionGroup var quarantine: QuarantineOptions
    @OptionGroup(title: "Common options") var common: CommonOptions

    private func instant() throws -> Timestamp? { try FilterOptions.time(at, "--at") }

    func validate() throws { _ = try instant() }

    func run() async throws {
        try await reportingErrors {
            let limit = common.jobLimit
            let opening = try input.opener(
                limit, backups, isQuiet: common.quiet, salvages: salvage, listsInventory: inventory)
            let reader = CaptureReader(
                try await opening.open(input.paths), paths: input.paths,
                options: common.scanOptions(
                    filter: try filters.filter(), reportsQueues: true, rereadsQuarantine: quarantine.rereadQuarantine),
                limit: limit)
            var report = ScanReport(reader.inputs, paths: input.paths, at: try instant())
            var labeler = EventLabeler(Systems.table)
            let intake = try await common.read(
                reader, listing: input.storeListing(of: reader),
                keep: { entry, _, payload in
                    report.count(entry)
                    guard common.json else { return }
                    let labels = labeler.labels(of: Array(payload), in: entry.summary)
                    report.count(labels, of: entry)
                }, note: { report.note($0) })
            report.finish(intake)
            let summary = Summary(intake, of: reader.options)
            if common.json {
                let json = ScanJSON(report)
                let containers = InventoryListing(report)
                var arrays: [(key: JSONKey, elements: CanonicalObject.Elements)] = [("stores", json.forEachStore)]
                if inventory { arrays.append(("inventory", containers.forEachObject)) }
                try summary.printJSON(as: .scan, arrays: arrays) { object in
                    object.set("apps", json.appEntries)
                    object.set("backups", json.backups)
                    if inventory { object.set("inventoryOmittedRows", containers.omittedRowCount) }
                }
            } else if !common.quiet {
                if !stores, AppListing.isNeeded(for: report) {
                    try AppListing(report).print()
                } else {
                    try ScanListing(report).print()
                }
                if inventory { try InventoryListing(report).print() }
                try Terminal.print(summary.sentence)
                for line in summary.decisionLines { try Terminal.print(line) }
            }
            try summary.finish()
        }
    }
}

/// The JSON output of a scan.
private struct ScanJSON {
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
        var object: CanonicalObject = [
            "app": apps.app(of: row).map(Self.json), "appContainer": apps.appContainer(of: row),
            "capture": row.capture, "container": row.container?.path, "containerID": row.container?.identifier,
            "events": row.eventCounts.json, "facts": row.details.facts, "held": row.totals.holds, "kind": row.kind,
            "path": row.path, "problems": row.details.problems.map(\.json), "quarantineCount": row.quarantineCount,
            "quarantined": row.details.quarantined.map(\.jsonWithCode), "records": row.totals.records,
            "systems": row.systems.sortedStrings, "types": row.totals.types, "uploadable": row.totals.uploadableCount,
            "usageData": row.usageData?.state.rawValue, "usageDataText": row.usageData?.sentence,
        ]
        if let events = row.details.pendingEvents { object.set("pendingEvents", events) }
        if let queue = row.details.queue { object.set("queue", queue.json) }
        return object
    }

    private static func json(of app: App) -> CanonicalObject {
        var object = CanonicalObject()
        for (key, value) in [("id", app.id), ("name", app.name), ("version", app.version)] {
            if let value { object.set(JSONKey(key), value) }
        }
        return object
    }
}

extension AppEntry {
    fileprivate var json: CanonicalObject {
        let (facts, others) = commonFacts
        let queues = sortedQueues.map { state, count -> CanonicalObject in
            ["code": state.code, "queues": count, "readiness": state.readiness.rawValue, "text": state.text]
        }
        return [
            "captures": captures.count, "containers": containerCount, "events": eventCounts.json,
            "facts": facts.map { fact -> CanonicalObject in ["stores": fact.stores, "text": fact.text] },
            "held": totals.holds, "id": id, "kinds": kindCounts, "name": name, "otherFacts": others,
            "pendingEvents": pendingEventCounts, "problemCount": problemCount, "quarantineCount": quarantineCount,
            "queues": queues, "records": totals.records, "stores": storeCount, "systems": systems.sortedStrings,
            "types": totals.types, "uploadable": totals.uploadableCount, "usageData": usageDataCounts,
            "versions": versions.sortedStrings,
        ]
    }
}
