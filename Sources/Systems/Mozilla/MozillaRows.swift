import JSONText
import Telemetry

/// The conversion of the events of event pings, and of the fields of core pings, to table rows.
///
/// Source: "Exports", section 1; "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5.1, 6.5
/// and 6.6.
struct MozillaRows: RowFormat {
    let tables = [CoreRows.core.table, CoreRows.searches.table]

    func addRows(
        of document: JSONDocument, type: String, to rows: inout RecordRows, nested: inout JSONDocument
    ) -> DeviceCells {
        if type == CoreRows.type { CoreRows.addRows(of: document, to: &rows) }
        if let events = document.array(MeasurementKeys.events, in: document.root) {
            Self.addEvents(events, of: document, to: &rows)
        }
        func cell(_ key: JSONKey) -> Cell {
            rows.buffer.keep(string: document.value(of: key, in: document.root), of: document)
        }
        return DeviceCells(
            os: cell(Self.os), osVersion: cell(Self.osVersion), device: cell(Self.device), locale: cell(Self.locale))
    }

    private static let os: JSONKey = "os"
    private static let osVersion: JSONKey = "osversion"
    private static let device: JSONKey = "device"
    private static let locale: JSONKey = "locale"

    /// Adds a row for each event, and marks events from earlier runs of the app (case E13).
    private static func addEvents(_ events: JSONNode, of document: JSONDocument, to rows: inout RecordRows) {
        let firstIndexOfLastRun = EventTuples.firstIndexOfLastRun(in: events, of: document)
        let processStart = rows.buffer.keep(
            integer: document.value(of: MeasurementKeys.processStart, in: document.root), of: document)
        var index = 0
        document.forEachElement(of: events) { event in
            var cells = cells(of: event, in: document, &rows.buffer)
            if index < firstIndexOfLastRun {
                cells.basis = .earlierRun
            } else {
                cells.basis = TimeBasis(processStart, .processStart, elapsed: cells.elapsed) ?? .record
            }
            rows.add(cells)
            index += 1
        }
    }

    /// Returns the cells of an event, which can be invalid, and omits a timestamp or a name of an unexpected type.
    private static func cells(
        of event: JSONNode, in document: JSONDocument, _ buffer: inout RowBuffer
    ) -> EventCells {
        var cells = EventCells()
        var names = (category: JSONNode?.none, method: JSONNode?.none, object: JSONNode?.none)
        var element = document.firstElement(of: event)
        var position = 0
        while let current = element, position < 6 {
            let name = document.kind(of: current) == .string ? current : nil
            switch position {
            case 0: cells.elapsed = buffer.keep(integer: current, of: document)
            case 1: names.category = name
            case 2: names.method = name
            case 3: names.object = name
            case 4: cells.value = buffer.keep(value: current, of: document)
            default: cells.extra = buffer.keep(json: current, of: document)
            }
            element = document.element(after: current, of: event)
            position += 1
        }
        switch names {
        case (let category?, let method?, let object?):
            let joined = buffer.keep(joined: category, method, object, of: document)
            (cells.name, cells.category) = (joined.whole, joined.first)
            (cells.method, cells.object) = (joined.second, joined.third)
        case (let category?, let method?, nil):
            let joined = buffer.keep(joined: category, method, nil, of: document)
            (cells.name, cells.category, cells.method) = (joined.whole, joined.first, joined.second)
        case (nil, _, _), (_, nil, _):
            cells.category = buffer.keep(string: names.category, of: document)
            cells.method = buffer.keep(string: names.method, of: document)
            cells.object = buffer.keep(string: names.object, of: document)
        }
        return cells
    }
}

/// The conversion of core pings to table rows, with a column for each field and a separate row for each search count.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5.1 and 5.2.
private enum CoreRows {
    static let type = "core"

    private static let fields = CorePing.fields.sorted

    /// The table of core pings, whose rows contain a cell for each field, and a cell for all other members.
    static let core = RowTable<[Cell]>(
        "core", aRowForEach: "core ping of Mozilla's telemetry-ios", key: ["record"], indexes: [["clientId"]],
        [.record]
            + fields.enumerated().map { index, field in
                .cell(field.key.description, TableColumn.Kind(field.form), field.meaning) { $0[index] }
            } + [
                .cell("other", .json, "all members that have no column, or whose type differs from that of the column")
                {
                    $0[fields.count]
                }
            ])

    static let searches = RowTable<(source: String?, engine: String, count: Cell)>(
        ofRecords: "searches", aRowForEach: "search count of a core ping",
        [
            .text(
                "source",
                "the part of the app in which the search was started; the part of the key before the first dot"
            ) { $0.source },
            .text("engine", "the search engine") { $0.engine },
            .cell("count", .integer, "the number of searches since the previous core ping") { $0.count },
        ])

    static func addRows(of document: JSONDocument, to rows: inout RecordRows) {
        // The cells are determined only if the output contains the table, because this takes a noticeable time.
        if rows.buffer.index(of: core.table) != nil { rows.add(cells(of: document, &rows.buffer), to: core) }
        if let searches = document.value(of: MeasurementKeys.searches, in: document.root) {
            rows.add(rows: searchCountRows(searches, of: document, rows.buffer), to: Self.searches)
        }
    }

    /// Returns a cell for each field, and a cell for all other members.
    private static func cells(of document: JSONDocument, _ buffer: inout RowBuffer) -> [Cell] {
        var cells: [Cell] = []
        cells.reserveCapacity(fields.count + 1)
        var otherKeys: Set<JSONNode> = []
        // Members and fields are both in canonical order, so a single pass matches them.
        var index = 0
        let count = document.memberCount(of: document.root)
        // A span is used, because fields of an array would be copied.
        let fields = Self.fields.span
        for field in fields.indices {
            var found: JSONMember?
            while index < count {
                let member = document.member(at: index, of: document.root)
                let order = document.bytes(of: member.key).ordered(against: fields[field].key)
                guard order <= 0 else { break }
                index += 1
                if order == 0 {
                    found = member
                    break
                }
                otherKeys.insert(member.key)
            }
            guard let member = found else {
                cells.append(.null)
                continue
            }
            let cell = buffer.keep(member.value, as: fields[field].form, of: document)
            if cell == .null, document.kind(of: member.value) != .null { otherKeys.insert(member.key) }
            cells.append(cell)
        }
        while index < count {
            otherKeys.insert(document.member(at: index, of: document.root).key)
            index += 1
        }
        let other =
            otherKeys.isEmpty
            ? .null : buffer.keep(membersOf: document.root, of: document) { otherKeys.contains($0.key) }
        cells.append(other)
        return cells
    }

    /// Returns a row for each search count, with its key `<source>.<engine>` split at the first dot.
    private static func searchCountRows(
        _ searches: JSONNode, of document: JSONDocument, _ buffer: RowBuffer
    ) -> [(source: String?, engine: String, count: Cell)] {
        (0..<document.memberCount(of: searches)).map { index in
            let member = document.member(at: index, of: searches)
            // Lone surrogates are replaced, because UTF-8 cannot express them.
            let key = document.string(of: member.key)
            let point = key.utf8.firstIndex(of: UInt8(ascii: "."))
            let source = point.map { String(key[..<$0]) }
            let engine = point.map { String(key[key.utf8.index(after: $0)...]) } ?? key
            return (source, engine, buffer.keep(integer: member.value, of: document))
        }
    }
}
