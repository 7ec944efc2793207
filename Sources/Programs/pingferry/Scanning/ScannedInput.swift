import Bundle
import Bytes
import Capture
import Export
import Files
import Telemetry

/// An input of a scan, with a row for each part of its stores.
///
/// A bundle or a request log has one row. Rows are stored in a compact form and expanded to ``ScanRow`` values on
/// request.
struct ScannedInput {
    private enum Contents {
        case folder(CapturedFolder)
        case bundle(path: String)
        case log(kind: String, path: String)
    }

    private struct Row {
        /// The index of the store in the capture.
        let storeIndex: UInt32
        /// The index of the part in `Store.parts`.
        let partIndex: UInt32
        /// The number in `apps` of the app that the records of the row name, or `nil` if they name none.
        var appIndex: UInt32?
        /// The time of the record that names the app, or `nil` if it is unknown.
        var appTime: Timestamp?
        var quarantineCount = 0
        var problemCount = 0
    }

    /// The name of the input in reports.
    let label: String
    /// The numbers of the containers, bundles and request logs in this input, counted across all inputs.
    let containers: Range<Int>
    private let contents: Contents
    private var rowTable: [Row] = []
    private var scanCounts: ScanCounts
    private var apps = NumberedValues<App>()
    private var details: [Int: ScanDetails] = [:]

    /// Creates the rows of `input`, one for each part of its stores, with counts of zero.
    init(_ input: CaptureInput, path: String, firstContainer: Int) {
        var containerCount = 1
        switch input {
        case .folder(let capture):
            label = capture.label
            contents = .folder(capture)
            containerCount = capture.stores.containerCount
            rowTable.reserveCapacity(capture.stores.count)
            for (store, found) in capture.stores.enumerated() {
                for part in found.store.parts.indices {
                    rowTable.append(Row(storeIndex: UInt32(store), partIndex: UInt32(part)))
                }
            }
        case .log(let log):
            label = log.label
            contents = .log(kind: log.kind.store.description, path: log.path)
            rowTable = [Row(storeIndex: 0, partIndex: 0)]
        case .bundle, .salvage:
            label = path
            contents = .bundle(path: path)
            rowTable = [Row(storeIndex: 0, partIndex: 0)]
        }
        containers = firstContainer..<firstContainer + containerCount
        scanCounts = ScanCounts(rows: rowTable.count)
    }

    var backups: [BackupFacts] {
        if case .folder(let capture) = contents { capture.backups } else { [] }
    }

    /// The containers of a capture, or an empty array for other inputs.
    var inventory: [InventoryEntry] {
        if case .folder(let capture) = contents { capture.inventory } else { [] }
    }

    /// The number of rows of backup manifests that are not in the inventory because of a limit.
    var omittedInventoryRowCount: Int {
        if case .folder(let capture) = contents { capture.omittedInventoryRowCount } else { 0 }
    }

    var rowIndices: Range<Int> { rowTable.indices }

    /// Calls `body` with the path and the rows of each store, in the order of the capture.
    func forEachStore(_ body: (_ path: String, _ rows: [ScanRow]) throws -> Void) rethrows {
        var rest = rowTable.indices
        while let first = rest.first {
            let rows = rest.prefix { rowTable[$0].storeIndex == rowTable[first].storeIndex }
            rest = rest.dropFirst(rows.count)
            try body(storePath(ofRow: first), rows.map(row))
        }
    }

    private func storePath(ofRow row: Int) -> String {
        switch contents {
        case .folder(let capture): capture.stores[Int(rowTable[row].storeIndex)].path
        case .bundle(let path), .log(_, let path): path
        }
    }

    /// Returns the row at `index` in expanded form.
    func row(_ index: Int) -> ScanRow {
        let stored = rowTable[index]
        var row: ScanRow
        switch contents {
        case .folder(let capture):
            let found = capture.stores[Int(stored.storeIndex)]
            let part = found.store.parts[Int(stored.partIndex)]
            row = ScanRow(
                capture: label, container: found.container,
                containerNumber: containers.lowerBound + found.containerNumber, kind: part.kind.description,
                path: part.path,
                app: App(id: found.container.identifier), system: found.store.system,
                systems: found.store.system.map { [CapturedText($0.description)] } ?? [])
        case .log(let kind, let path):
            row = ScanRow(capture: label, containerNumber: containers.lowerBound, kind: kind, path: path)
        case .bundle(let path):
            row = ScanRow(
                capture: label, containerNumber: containers.lowerBound, kind: ScanRow.bundleKind, path: path)
        }
        if let app = stored.appIndex { (row.app, row.appTime) = (apps[app], stored.appTime) }
        row.set(scanCounts.counts(ofRow: index))
        row.quarantineCount = stored.quarantineCount
        row.problemCount = stored.problemCount
        if let found = details[index] { row.details = found }
        row.details.facts += row.countFacts
        if case .folder(let capture) = contents {
            row.usageData = capture.usageDataStatus(ofStore: Int(stored.storeIndex), app: row.app)
        }
        return row
    }

    // MARK: Counting

    mutating func count(_ record: RecordSummary, inRow row: Int) {
        let system = record.system.description
        scanCounts.count(
            .type(
                system: CapturedText(system), type: CapturedText(record.type), isUploadable: record.isUploadable),
            ofRow: row)
        for code in record.holds { scanCounts.count(.held(code: CapturedText(code)), ofRow: row) }
    }

    /// Counts the events of a record by their meanings, which are `nil` for undocumented events.
    mutating func count(_ meanings: [String?], inRow row: Int) {
        for meaning in meanings { scanCounts.count(.event(meaning: meaning.map { CapturedText($0) }), ofRow: row) }
    }

    mutating func add(_ entry: QuarantineEntry, toRow row: Int, isShown: Bool) {
        rowTable[row].quarantineCount += 1
        if isShown { details[row, default: .init()].quarantined.append(entry) }
    }

    mutating func add(_ problem: LocatedProblem, toRow row: Int, isShown: Bool) {
        rowTable[row].problemCount += 1
        if isShown { details[row, default: .init()].problems.append(problem) }
    }

    /// Combines `found` with the app of the row at index `row`, unless the row belongs to a bundle or a request log.
    mutating func add(_ entry: ScanOutput.AppEntry, toRow row: Int) {
        guard case .folder(let capture) = contents else { return }
        let (store, part) = (Int(rowTable[row].storeIndex), Int(rowTable[row].partIndex))
        let owner = capture.stores[store]
        guard !owner.store.parts[part].kind.isRequestLog else { return }
        addNames(entry.names, toRow: row)
        var latest = entry.latest
        if let known = rowTable[row].appIndex.map({ apps[$0] }) ?? App(id: owner.container.identifier) {
            latest = LatestApp(known, at: rowTable[row].appTime)
            latest.add(entry.latest)
        }
        rowTable[row].appIndex = apps.number(of: latest.app)
        rowTable[row].appTime = latest.time
    }

    /// Adds names of apps to the row at index `row`, which stores them only if there are several.
    private mutating func addNames(_ names: Set<CapturedText>, toRow row: Int) {
        let known = details[row]?.appNames ?? []
        let latest = rowTable[row].appIndex.flatMap { apps[$0].name }.map { CapturedText($0) }
        let all = known.union(names).union([latest].compactMap(\.self))
        guard all.count > 1, all.count <= ScanOutput.AppEntry.maximumNameCount else { return }
        details[row, default: .init()].appNames = all
    }

    /// Adds the facts, pending events and queues in `report`, with the queues to be evaluated at `instant`.
    mutating func add(_ report: StoreReport, ofStore store: Int, at instant: Int64) {
        let first = firstRow(ofStore: store)
        if !report.facts.isEmpty { details[first, default: .init()].facts += report.facts }
        for part in report.parts where part.events != nil || part.queue != nil {
            details[first + part.part, default: .init()].pendingEvents = part.events
            details[first + part.part]?.queue = part.queue.map { EvaluatedQueue(rules: $0, instant: instant) }
        }
    }

    // MARK: Finding rows

    /// Returns the index of the row for `place`, or 0 for the only row of a bundle or a request log.
    func row(at place: ScanOutput.StorePlace?) -> Int { place.map { firstRow(ofStore: $0.store) + $0.part } ?? 0 }

    /// Returns the index of the row for the file at `path`, or `nil` if there is none.
    ///
    /// If the file contains the stores of two systems, `kind` selects one of them.
    func row(ofPath path: String, kind: String? = nil) -> Int? {
        switch contents {
        case .bundle: return 0
        case .log(_, let logPath): return path == logPath || Path.parent(of: path) == logPath ? 0 : nil
        case .folder(let capture):
            let rows = rows(at: path, in: capture)
            if rows.isEmpty { return self.rows(at: Path.parent(of: path) ?? "", in: capture).first }
            guard let kind else { return rows.first }
            return rows.first { self.part(ofRow: $0, in: capture).kind.description == kind } ?? rows.first
        }
    }

    /// Returns the indices of the rows for the stores at `path`.
    ///
    /// If there are none, returns the rows of store parts at `path`, or of the store with a companion file at `path`.
    private func rows(at path: String, in capture: CapturedFolder) -> [Int] {
        let stores = capture.stores.indices(at: path)
        if !stores.isEmpty { return stores.flatMap { rows(ofStore: $0) } }
        var folder = path
        while !folder.isEmpty {
            folder = Path.parent(of: folder) ?? ""
            let parts = capture.stores.indices(at: folder).flatMap { rows(ofStore: $0) }
                .filter { CapturedText(part(ofRow: $0, in: capture).path) == path }
            if !parts.isEmpty { return parts }
        }
        return capture.storeIndex(withCompanion: path).map { [firstRow(ofStore: $0)] } ?? []
    }

    private func part(ofRow row: Int, in capture: CapturedFolder) -> StorePart {
        capture.stores[Int(rowTable[row].storeIndex)].store.parts[Int(rowTable[row].partIndex)]
    }

    private func rows(ofStore store: Int) -> Range<Int> { firstRow(ofStore: store)..<firstRow(ofStore: store + 1) }

    private func firstRow(ofStore store: Int) -> Int {
        rowTable.indices.partitioningIndex { rowTable[$0].storeIndex >= store }
    }
}

/// The counts of records and events for all rows of a scanned input.
///
/// A capture can have hundreds of thousands of stores. The subjects are numbered, so that a row with two counts takes
/// about 90 bytes.
struct ScanCounts {
    private var subjects = NumberedValues<CountedSubject>()
    /// The counts of each row, by the numbers of their subjects.
    private var rows: [[UInt32: Int]]

    init(rows: Int) { self.rows = Array(repeating: [:], count: rows) }

    /// Adds 1 to the count of `subject` in the row at index `row`.
    mutating func count(_ subject: CountedSubject, ofRow row: Int) {
        rows[row][subjects.number(of: subject), default: 0] += 1
    }

    /// Returns the nonzero counts of a row.
    func counts(ofRow row: Int) -> [CountedSubject: Int] {
        Dictionary(uniqueKeysWithValues: rows[row].map { (subjects[$0], $1) })
    }
}

/// The subject of a count of a scan.
enum CountedSubject: Hashable {
    /// The records of a type, counted separately depending on whether they may be uploaded.
    case type(system: CapturedText, type: CapturedText, isUploadable: Bool)
    /// The records that are held for the given code.
    case held(code: CapturedText)
    /// The events with a documented meaning, or the events without one if `meaning` is `nil`.
    case event(meaning: CapturedText?)
}
