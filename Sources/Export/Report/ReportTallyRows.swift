import Bytes
import Telemetry

/// Methods that count the rows of exported tables.
extension ReportTally {
    /// Creates a tally of the rows in a buffer.
    ///
    /// All values of each client are collected only if `collectsValues` is `true`, because this needs more memory.
    init(of buffer: RowBuffer, _ tables: ExportTables, collectsValues: Bool = false) {
        self.init()
        // The tables `metrics` and `searches` exist only if the systems to which they belong are supported.
        func systemRows(_ name: String) -> TableRows? {
            tables.all.first { $0.name == name }.map { TableRows($0, in: buffer) }
        }
        countRecords(
            in: buffer, metrics: systemRows("metrics"), searches: systemRows("searches"),
            collectsValues: collectsValues)
        countClients(TableRows(ExportTables.clients, in: buffer))
        countGaps(TableRows(ExportTables.gaps, in: buffer))
        countProblems(TableRows(ExportTables.problems, in: buffer))
        countQuarantine(TableRows(ExportTables.quarantine, in: buffer))
    }

    private static let millisecondsPerDay = 86_400_000

    private static func day(ofMilliseconds milliseconds: Int) -> Int {
        Int((Double(milliseconds) / Double(millisecondsPerDay)).rounded(.down))
    }
}

// MARK: - Records

extension ReportTally {
    private mutating func countRecords(
        in buffer: RowBuffer, metrics: TableRows?, searches: TableRows?, collectsValues: Bool
    ) {
        let rows = TableRows(ExportTables.records, in: buffer)
        var holds = TableRows(ExportTables.holds, in: buffer)
        var events = TableRows(ExportTables.events, in: buffer)
        var (metrics, searches) = (metrics, searches)
        let columns = RecordColumns(rows)
        for row in 0..<rows.count {
            let number = rows[row, columns.record]
            let app = rows.text(row, columns.appName) ?? rows.text(row, columns.appID)
            let eventRows = events.nextRows(ofRecord: number)
            let metricRows = metrics?.nextRows(ofRecord: number) ?? 0..<0
            let searchRows = searches?.nextRows(ofRecord: number) ?? 0..<0
            let countedMetrics = metrics.map { countMetrics($0, metricRows) } ?? []
            let countedSearches = searches.map { countSearches($0, searchRows) } ?? []
            let countedEvents = countEvents(events, eventRows, app: app)
            countRecord(rows, row, columns, app: app, collectsValues: collectsValues) { profile in
                for metric in countedMetrics { profile.metrics.insert(metric) }
                guard collectsValues else { return }
                for event in countedEvents { profile.values.events.insert(event) }
                for search in countedSearches { profile.values.searches.insert(search) }
            }
            countHolds(holds, holds.nextRows(ofRecord: number), eventCount: eventRows.count)
        }
    }

    private mutating func countRecord(
        _ rows: TableRows, _ row: Int, _ columns: RecordColumns, app name: String?, collectsValues: Bool,
        addContents: (inout ClientProfile) -> Void
    ) {
        let system = rows.text(row, columns.system) ?? ""
        let kind = RecordKind(system: system, type: rows.text(row, columns.type) ?? "")
        let time = rows.integer(row, columns.time)
        let day = time.map(Self.day(ofMilliseconds:))
        recordCount += 1
        payloadByteCount += rows.bytes(row, columns.payload)?.count ?? 0
        recordsByKind.add(kind)
        if let day { recordsByKindAndDay.add(KindDay(kind: kind, day: day)) } else { untimedRecordCount += 1 }
        let app = ReportApp(name: name, version: rows.text(row, columns.version))
        let model = ReportModel(
            device: rows.text(row, columns.device), os: rows.text(row, columns.os).map(Self.systemName),
            osVersion: rows.text(row, columns.osVersion))
        let appIndex = recordsByApp.add(app)
        let modelIndex = model == ReportModel() ? nil : recordsByModel.add(model)
        let localeIndex = rows.text(row, columns.locale).flatMap { recordsByLocale.add($0) }
        let systemIndex = recordsBySystem.add(system)
        let id = rows.fullText(row, columns.client)
        let client = ClientKey(system: system, client: id)
        profiles.update(client, system: systemIndex, isClient: id != nil) { profile in
            // Values without a time are treated as earlier than all others, and incomplete values as even earlier.
            let time = time.map(Int64.init) ?? .min + 2
            profile.app.update(appIndex, at: app.version != nil ? time : app.name != nil ? .min + 1 : .min)
            profile.model.update(modelIndex, at: model.device != nil ? time : .min)
            profile.locale.update(localeIndex, at: time)
            if let day { profile.days.insert(day) }
            addContents(&profile)
            guard collectsValues else { return }
            if let appIndex { profile.values.apps.insert(appIndex) }
            if let modelIndex { profile.values.models.insert(modelIndex) }
            if let localeIndex { profile.values.locales.insert(localeIndex) }
        }
        guard rows.integer(row, columns.uploadable) == 1 else { return }
        uploadableCount += 1
        uploadCounts[client.key(forType: kind.type), default: 0] += 1
    }

    /// Returns the usual spelling of the name of an operating system.
    ///
    /// The spelling must be unified, because some SDKs write `ios` and others write `iOS`.
    private static func systemName(_ name: String) -> String { name.lowercased() == "ios" ? "iOS" : name }

    /// Counts the metrics of a ping, and returns their indices in ``pingsByMetric``.
    ///
    /// A labeled metric has several rows but is counted once.
    private mutating func countMetrics(_ rows: TableRows, _ range: Range<Int>) -> Set<Int> {
        let (name, type) = (rows.column("name"), rows.column("metric_type"))
        let kinds = range.compactMap { row in
            rows.text(row, name).map { MetricKind(name: $0, type: rows.text(row, type) ?? "") }
        }
        var counted: Set<MetricKind> = []
        return Set(kinds.filter { counted.insert($0).inserted }.compactMap { pingsByMetric.add($0) })
    }

    private mutating func countHolds(_ rows: TableRows, _ range: Range<Int>, eventCount: Int) {
        guard !range.isEmpty else { return }
        let code = rows.column("code")
        for code in Set(range.compactMap { rows.text($0, code).map { CapturedText($0) } }).sorted() {
            heldRecordsByCode.add(code)
            heldEventsByCode.add(code, eventCount)
        }
    }

    /// Counts the events of a record, and returns their indices in ``eventsByKind``.
    private mutating func countEvents(_ rows: TableRows, _ range: Range<Int>, app: String?) -> [Int] {
        let (name, label) = (rows.column("name"), rows.column("label"))
        let time = rows.column("at_ms")
        eventCount += range.count
        return range.compactMap { row in
            if let time = rows.integer(row, time) {
                eventsByDay.add(Self.day(ofMilliseconds: time))
            } else {
                untimedEventCount += 1
            }
            return eventsByKind.add(EventKind(app: app, name: rows.text(row, name), label: rows.text(row, label)))
        }
    }

    /// Counts the searches of a record, and returns their indices in ``searchesByKind``.
    private mutating func countSearches(_ rows: TableRows, _ range: Range<Int>) -> [Int] {
        let (engine, source, count) = (rows.column("engine"), rows.column("source"), rows.column("count"))
        return range.compactMap { row in
            let kind = SearchKind(engine: rows.text(row, engine) ?? "", source: rows.text(row, source))
            return searchesByKind.add(kind, max(0, rows.integer(row, count) ?? 0))
        }
    }

    private struct RecordColumns {
        let record, system, type, client, time, appID, appName, version: Int?
        let os, osVersion, device, locale, uploadable, payload: Int?

        init(_ rows: TableRows) {
            record = rows.column("record")
            system = rows.column("system")
            type = rows.column("type")
            client = rows.column("client")
            time = rows.column("time_ms")
            appID = rows.column("app_id")
            appName = rows.column("app_name")
            version = rows.column("app_version")
            os = rows.column("os")
            osVersion = rows.column("os_version")
            device = rows.column("device")
            locale = rows.column("locale_normalized")
            uploadable = rows.column("uploadable")
            payload = rows.column("payload")
        }
    }
}

// MARK: - Other tables

extension ReportTally {
    private mutating func countClients(_ rows: TableRows) {
        let (system, client) = (rows.column("system"), rows.column("client"))
        let (appNames, appIDs) = (rows.column("app_name"), rows.column("app_id"))
        let (records, uploadable) = (rows.column("records"), rows.column("uploadable"))
        let (events, first, last) = (rows.column("events"), rows.column("first"), rows.column("last"))
        for row in 0..<rows.count {
            let name = rows.text(row, system) ?? ""
            clients.add(
                ReportClient(
                    system: name, id: rows.text(row, client),
                    key: ClientKey(system: name, client: rows.fullText(row, client)),
                    apps: rows.text(row, appNames) ?? rows.text(row, appIDs),
                    recordCount: rows.integer(row, records) ?? 0, uploadableCount: rows.integer(row, uploadable) ?? 0,
                    eventCount: rows.integer(row, events) ?? 0, firstTime: rows.text(row, first),
                    lastTime: rows.text(row, last)))
        }
    }

    private mutating func countGaps(_ rows: TableRows) {
        let (system, type, client) = (rows.column("system"), rows.column("type"), rows.column("client"))
        let (reason, count) = (rows.column("reason"), rows.column("count"))
        let (first, last) = (rows.column("first"), rows.column("last"))
        let (timeBefore, timeAfter) = (rows.column("time_before"), rows.column("time_after"))
        for row in 0..<rows.count {
            let count = rows.integer(row, count) ?? 0
            switch rows.text(row, reason).flatMap(GapRow.Reason.init) {
            case .restart: gaps.addRestart()
            case .repeated: gaps.addRepetition(extraCount: count)
            case .missing, nil:
                gaps.add(
                    ReportGap(
                        client: rows.text(row, client) ?? "", system: rows.text(row, system) ?? "",
                        type: rows.text(row, type) ?? "", first: rows.integer(row, first) ?? 0,
                        last: rows.integer(row, last) ?? 0, count: count, timeBefore: rows.text(row, timeBefore),
                        timeAfter: rows.text(row, timeAfter)))
            }
        }
    }

    private mutating func countProblems(_ rows: TableRows) {
        let text = rows.column("text")
        countCodes(rows, text: { rows.text($0, text) }, to: \.problems)
    }

    private mutating func countQuarantine(_ rows: TableRows) {
        let (code, reason) = (rows.column("code"), rows.column("reason"))
        countCodes(
            rows,
            text: { row in
                // The reason starts with the code.
                let length = (rows.text(row, code) ?? "").count + 1
                return rows.text(row, reason).map { String($0.dropFirst(length)) }
            }, to: \.quarantine)
    }

    private mutating func countCodes(
        _ rows: TableRows, text: (Int) -> String?, to counts: WritableKeyPath<ReportTally, CodeCounts>
    ) {
        let (capture, path) = (rows.column("capture"), rows.column("path"))
        let (offset, code) = (rows.column("offset"), rows.column("code"))
        for row in 0..<rows.count {
            let example = CodeExample(
                capture: rows.text(row, capture) ?? "", path: rows.text(row, path) ?? "",
                offset: rows.integer(row, offset), text: text(row) ?? "")
            self[keyPath: counts].add(rows.text(row, code) ?? "", example)
        }
    }
}
