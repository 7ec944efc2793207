import JSONText
import Telemetry

/// Builds table rows from the lines of records.
///
/// The memory is reused for later batches.
struct RowBuilder {
    private let systems: SystemTable
    /// The index of the table `records`.
    private let recordTable: Int
    /// The rows of the last batch.
    var rows: RecordRows
    private var frame = JSONDocument()
    private var payload = JSONDocument()
    private var nested = JSONDocument()

    /// The policy for reading lines.
    ///
    /// They are valid JSON but can contain unpaired surrogates.
    private static let policy = JSONReadingPolicy(unpairedSurrogates: .keep, depthLimit: 513)

    init(_ tables: ExportTables, systems: SystemTable) {
        self.systems = systems
        recordTable = tables.index(of: ExportTables.records)
        rows = RecordRows(tables.all, eventTable: tables.index(of: ExportTables.events))
    }

    /// Builds the rows of a batch in ``rows``, and returns the number of events of each record.
    mutating func make(_ lines: RecordBatch) throws(JSONError) -> [Int] {
        rows.removeAll()
        var events: [Int] = []
        events.reserveCapacity(lines.entries.count)
        for (index, entry) in lines.entries.enumerated() {
            _ = try frame.readValue(in: lines.text, range: entry.frame, policy: Self.policy)
            _ = try payload.readValue(in: lines.text, range: entry.payload, policy: Self.policy)
            add(entry, number: lines.first + index, lines.text.span.extracting(entry.payload))
            events.append(rows.eventCount)
        }
        frame.reset()
        payload.reset()
        return events
    }

    private mutating func add(_ entry: RecordBatch.Entry, number: Int, _ payloadBytes: Span<UInt8>) {
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
        let labels = system?.vocabulary?.labels(of: payload, type: record.type, nested: &nested) ?? []
        rows.begin(shared, labels: labels)
        addHoldsAndNotes(shared.number)
        let device =
            system?.rows?.addRows(of: RecordPayload(payload, type: record.type), to: &rows, nested: &nested)
            ?? DeviceCells()
        rows.buffer.add(Self.recordRow(frame, shared, device, payloadBytes, &rows.buffer), to: recordTable)
    }
}

// MARK: - The frame

extension RowBuilder {
    // The methods are static, because a mutating method could not also receive the builder's buffer without a copy.
    private static func recordRow(
        _ frame: JSONDocument, _ shared: RecordRows.SharedCells, _ device: DeviceCells, _ payload: Span<UInt8>,
        _ buffer: inout RowBuffer
    ) -> [Cell] {
        let root = frame.root
        let app = frame.value(of: RecordKeys.app, in: root)
        let target = frame.value(of: RecordKeys.target, in: root)
        let source = frame.value(of: RecordKeys.source, in: root)
        let isHeld = frame.value(of: RecordKeys.held, in: root).map { frame.count(of: $0) > 0 } ?? true
        return [
            shared.number, shared.system, shared.type, text(frame, RecordKeys.id, in: root, &buffer), shared.client,
            shared.time, shared.milliseconds, day(shared.time),
            text(frame, RecordKeys.id, in: app, &buffer), text(frame, RecordKeys.name, in: app, &buffer),
            text(frame, RecordKeys.version, in: app, &buffer), text(frame, RecordKeys.channel, in: app, &buffer),
            text(frame, RecordKeys.build, in: app, &buffer),
            device.os, device.osVersion, device.device, device.locale,
            text(frame, RecordKeys.method, in: target, &buffer), text(frame, RecordKeys.path, in: target, &buffer),
            buffer.keep(json: target.flatMap { frame.value(of: RecordKeys.headers, in: $0) }, of: frame),
            .flag(!isHeld),
            text(frame, RecordKeys.capture, in: source, &buffer), text(frame, RecordKeys.path, in: source, &buffer),
            text(frame, RecordKeys.store, in: source, &buffer),
            buffer.keep(integer: source.flatMap { frame.value(of: RecordKeys.index, in: $0) }, of: frame),
            buffer.keep(payload),
        ]
    }

    private mutating func addHoldsAndNotes(_ number: Cell) {
        if let held = frame.value(of: RecordKeys.held, in: frame.root), frame.count(of: held) > 0 {
            let holds = frame.elements(of: held).map { Hold(text: frame.string(of: $0)) }
            let cells = holds.map { [rows.buffer.keep($0.code), rows.buffer.keep($0.detail)] }
            rows.add(cells, to: ExportTables.holds.name)
        }
        if let notes = frame.value(of: RecordKeys.notes, in: frame.root), frame.count(of: notes) > 0 {
            let texts = frame.elements(of: notes).map { frame.string(of: $0) }
            let cells = texts.map { note in
                let parts = note.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
                return [rows.buffer.keep(String(parts[0])), rows.buffer.keep(parts.count > 1 ? String(parts[1]) : nil)]
            }
            rows.add(cells, to: ExportTables.notes.name)
        }
    }

    private static func text(
        _ frame: JSONDocument, _ key: JSONKey, in object: JSONNode?, _ buffer: inout RowBuffer
    ) -> Cell {
        buffer.keep(string: object.flatMap { frame.value(of: key, in: $0) }, of: frame)
    }

    /// Returns the date of a time, which is the first ten bytes.
    private static func day(_ time: Cell) -> Cell {
        switch time {
        case .text(let start, _): .text(start: start, count: 10)
        case .null, .integer, .real: .null
        }
    }
}
