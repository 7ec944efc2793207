import JSONText
import Telemetry

/// Makes the rows of records from their lines. A maker uses its memory again for the next lines.
struct RowMaker {
    private let tables: ExportTables
    private let systems: SystemTable
    private let places: (records: Int, holds: Int, notes: Int, events: Int)
    private var frame = JSONDocument()
    private var payload = JSONDocument()
    private var nested = JSONDocument()

    /// A record's line was read when it was made or taken from a bundle, so it is JSON; a lone surrogate may stand in it.
    private static let policy = JSONReadingPolicy(unpairedSurrogates: .keep, depthLimit: 513)

    init(_ tables: ExportTables, systems: SystemTable) {
        self.tables = tables
        self.systems = systems
        places = (
            tables.place(of: ExportTables.records), tables.place(of: ExportTables.holds),
            tables.place(of: ExportTables.notes), tables.place(of: ExportTables.events)
        )
    }

    /// The rows of some records.
    /// - Throws: ``JSONError`` for a line that is no JSON.
    mutating func rows(of lines: RecordLines) throws(JSONError) -> MadeRows {
        var rows = RecordRows(tables.all, eventTable: places.events)
        var events: [Int] = []
        events.reserveCapacity(lines.entries.count)
        for (index, entry) in lines.entries.enumerated() {
            _ = try frame.readValue(in: lines.text, range: entry.frame, policy: Self.policy)
            _ = try payload.readValue(in: lines.text, range: entry.payload, policy: Self.policy)
            add(entry, number: lines.first + index, lines.text.span.extracting(entry.payload), to: &rows)
            events.append(rows.eventCount)
            frame.reset()
            payload.reset()
        }
        return MadeRows(buffer: rows.buffer, summaries: lines.entries.map(\.summary), events: events)
    }

    private mutating func add(
        _ entry: RecordLines.Entry, number: Int, _ payloadBytes: Span<UInt8>, to rows: inout RecordRows
    ) {
        let record = entry.summary
        let system = systems[record.system]
        var shared = RecordRows.SharedCells()
        shared.number = .integer(Int64(number))
        shared.system = rows.buffer.keep(record.system.description)
        shared.type = rows.buffer.keep(record.type)
        shared.client = rows.buffer.keep(record.client)
        if let time = record.time {
            shared.time = rows.buffer.keep(time)
            shared.milliseconds = .integer(time.milliseconds)
        }
        let labels = system?.vocabulary.labels(of: payload, type: record.type, nested: &nested) ?? []
        rows.begin(shared, labels: labels)
        addHoldsAndNotes(shared.number, to: &rows)
        let device =
            system?.rows.addRows(of: RecordPayload(payload, type: record.type), to: &rows, nested: &nested)
            ?? DeviceCells()
        rows.buffer.add(recordRow(shared, device, payloadBytes, &rows.buffer), to: places.records)
    }
}

// MARK: - The frame

extension RowMaker {
    private func recordRow(
        _ shared: RecordRows.SharedCells, _ device: DeviceCells, _ payload: Span<UInt8>, _ buffer: inout RowBuffer
    ) -> [Cell] {
        let root = frame.root
        let app = frame.value(of: Keys.app, in: root)
        let target = frame.value(of: Keys.target, in: root)
        let source = frame.value(of: Keys.source, in: root)
        let isHeld = frame.value(of: Keys.held, in: root).map { frame.count(of: $0) > 0 } ?? true
        return [
            shared.number, shared.system, shared.type, text(Keys.id, in: root, &buffer), shared.client, shared.time,
            shared.milliseconds, Self.day(shared.time),
            text(Keys.id, in: app, &buffer), text(Keys.name, in: app, &buffer), text(Keys.version, in: app, &buffer),
            text(Keys.channel, in: app, &buffer), text(Keys.build, in: app, &buffer),
            device.os, device.osVersion, device.device, device.locale,
            text(Keys.method, in: target, &buffer), text(Keys.path, in: target, &buffer),
            buffer.keep(json: target.flatMap { frame.value(of: Keys.headers, in: $0) }, of: frame), .flag(!isHeld),
            text(Keys.capture, in: source, &buffer), text(Keys.path, in: source, &buffer),
            text(Keys.store, in: source, &buffer),
            buffer.keep(integer: source.flatMap { frame.value(of: Keys.index, in: $0) }, of: frame),
            buffer.keep(payload),
        ]
    }

    private func addHoldsAndNotes(_ number: Cell, to rows: inout RecordRows) {
        if let held = frame.value(of: Keys.held, in: frame.root), frame.count(of: held) > 0 {
            let holds = frame.elements(of: held).map { Hold(text: frame.string(of: $0)) }
            rows.add(
                holds.map { [rows.buffer.keep($0.code), rows.buffer.keep($0.detail)] }, to: ExportTables.holds.name)
        }
        if let notes = frame.value(of: Keys.notes, in: frame.root), frame.count(of: notes) > 0 {
            let texts = frame.elements(of: notes).map { frame.string(of: $0) }
            rows.add(
                texts.map { note in
                    let parts = note.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
                    return [
                        rows.buffer.keep(String(parts[0])), rows.buffer.keep(parts.count > 1 ? String(parts[1]) : nil),
                    ]
                }, to: ExportTables.notes.name)
        }
    }

    private func text(_ key: JSONKey, in object: JSONNode?, _ buffer: inout RowBuffer) -> Cell {
        buffer.keep(string: object.flatMap { frame.value(of: key, in: $0) }, of: frame)
    }

    /// The first ten bytes of a time are its day.
    private static func day(_ time: Cell) -> Cell {
        switch time {
        case .text(let start, _): .text(start: start, count: 10)
        case .null, .integer, .real: .null
        }
    }

    private enum Keys {
        static let app: JSONKey = "app"
        static let build: JSONKey = "build"
        static let capture: JSONKey = "capture"
        static let channel: JSONKey = "channel"
        static let headers: JSONKey = "headers"
        static let held: JSONKey = "held"
        static let id: JSONKey = "id"
        static let index: JSONKey = "index"
        static let method: JSONKey = "method"
        static let name: JSONKey = "name"
        static let notes: JSONKey = "notes"
        static let path: JSONKey = "path"
        static let source: JSONKey = "source"
        static let store: JSONKey = "store"
        static let target: JSONKey = "target"
        static let version: JSONKey = "version"
    }
}

/// The rows of some records.
struct MadeRows: Sendable {
    let buffer: RowBuffer
    /// The records in short.
    let summaries: [RecordSummary]
    /// How many events each of them has.
    let events: [Int]
}
