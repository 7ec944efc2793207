import JSONText
import Telemetry

/// A builder that creates table rows from the lines of records.
///
/// The memory is reused for later batches.
struct RowBuilder {
    private let systems: SystemTable
    /// The index of the table `records`.
    private let recordTable: Int
    /// The rows of the last batch.
    var rows: RecordRows
    /// The record with its payload replaced by 0.
    private var envelope = JSONDocument()
    private var payload = JSONDocument()
    private var nested = JSONDocument()

    /// The policy for reading the lines of records.
    ///
    /// The lines are valid JSON but can contain unpaired surrogates.
    private static let readingPolicy = JSONReadingPolicy(
        unpairedSurrogates: .keep, depthLimit: 513, valueLimit: .fixed)

    init(_ tables: ExportTables, systems: SystemTable, _ extraContents: ExtraContents) {
        self.systems = systems
        recordTable = tables.index(of: ExportTables.records)
        rows = RecordRows(
            tables.all, eventTable: tables.index(of: ExportTables.events), extraContents: extraContents)
    }

    /// Builds the rows of a batch in ``rows``, and returns the counted properties of each record.
    mutating func buildRows(of batch: RecordBatch) throws(JSONError) -> [WrittenRows.Record] {
        rows.removeAll()
        var records: [WrittenRows.Record] = []
        records.reserveCapacity(batch.entries.count)
        for (index, entry) in batch.entries.enumerated() {
            _ = try envelope.readValue(in: batch.text, range: entry.envelope, policy: Self.readingPolicy)
            _ = try payload.readValue(in: batch.text, range: entry.payload, policy: Self.readingPolicy)
            add(entry, number: batch.firstNumber + index, batch.text.span.extracting(entry.payload))
            records.append(
                WrittenRows.Record(
                    summary: entry.summary, eventCount: rows.eventCount,
                    sequenceNumber: systems.sequenceNumber(in: payload, of: entry.summary)))
        }
        envelope.reset()
        payload.reset()
        return records
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
        shared.hasRoundedTimes = hasTimeUnitNote
        let labels = system?.vocabulary?.labels(of: payload, type: record.type, nested: &nested) ?? []
        rows.begin(shared, labels: labels)
        addHoldsAndNotes(shared.number)
        let device =
            system?.rows?.addRows(of: RecordPayload(payload, type: record.type), to: &rows, nested: &nested)
            ?? DeviceCells()
        rows.buffer.add(Self.recordRow(envelope, shared, device, payloadBytes, &rows.buffer), to: recordTable)
    }
}

// MARK: - The envelope

extension RowBuilder {
    // The methods are static, because an instance method could receive the builder's buffer as an `inout` argument only
    // through a copy.
    private static func recordRow(
        _ envelope: JSONDocument, _ shared: RecordRows.SharedCells, _ device: DeviceCells, _ payload: Span<UInt8>,
        _ buffer: inout RowBuffer
    ) -> [Cell] {
        let root = envelope.root
        let app = envelope.value(of: RecordKeys.app, in: root)
        let target = envelope.value(of: RecordKeys.target, in: root)
        let source = envelope.value(of: RecordKeys.source, in: root)
        let isHeld = envelope.value(of: RecordKeys.held, in: root).map { envelope.count(of: $0) > 0 } ?? true
        let capture = textCell(envelope, RecordKeys.capture, in: source, &buffer)
        let path = textCell(envelope, RecordKeys.path, in: source, &buffer)
        return [
            shared.number, shared.system, shared.type, textCell(envelope, RecordKeys.id, in: root, &buffer),
            shared.client,
            shared.time, shared.milliseconds, dayCell(of: shared.time),
            textCell(envelope, RecordKeys.id, in: app, &buffer), textCell(envelope, RecordKeys.name, in: app, &buffer),
            textCell(envelope, RecordKeys.version, in: app, &buffer),
            textCell(envelope, RecordKeys.channel, in: app, &buffer),
            textCell(envelope, RecordKeys.build, in: app, &buffer),
            device.os, device.osVersion, device.device, device.locale, normalizedLocale(device.locale, &buffer),
            textCell(envelope, RecordKeys.method, in: target, &buffer),
            textCell(envelope, RecordKeys.path, in: target, &buffer),
            buffer.keep(json: target.flatMap { envelope.value(of: RecordKeys.headers, in: $0) }, of: envelope),
            .flag(!isHeld),
            capture, containerCell(capture, path, &buffer), path,
            textCell(envelope, RecordKeys.store, in: source, &buffer),
            buffer.keep(integer: source.flatMap { envelope.value(of: RecordKeys.index, in: $0) }, of: envelope),
            buffer.keep(payload),
        ]
    }

    private var hasTimeUnitNote: Bool {
        guard let notes = envelope.value(of: RecordKeys.notes, in: envelope.root) else { return false }
        return envelope.elements(of: notes).contains { Record.isTimeUnitNote(envelope.bytes(of: $0)) }
    }

    private mutating func addHoldsAndNotes(_ number: Cell) {
        if let held = envelope.value(of: RecordKeys.held, in: envelope.root), envelope.count(of: held) > 0 {
            let holds = envelope.elements(of: held).map { Hold(text: envelope.string(of: $0)) }
            let cells = holds.map { [rows.buffer.keep($0.code), rows.buffer.keep($0.detail)] }
            rows.add(cells, to: ExportTables.holds.name)
        }
        if let notes = envelope.value(of: RecordKeys.notes, in: envelope.root), envelope.count(of: notes) > 0 {
            let texts = envelope.elements(of: notes).map { envelope.string(of: $0) }
            let cells = texts.map { note in
                let parts = note.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
                return [rows.buffer.keep(String(parts[0])), rows.buffer.keep(parts.count > 1 ? String(parts[1]) : nil)]
            }
            rows.add(cells, to: ExportTables.notes.name)
        }
    }

    private static func textCell(
        _ envelope: JSONDocument, _ key: JSONKey, in object: JSONNode?, _ buffer: inout RowBuffer
    ) -> Cell {
        buffer.keep(string: object.flatMap { envelope.value(of: key, in: $0) }, of: envelope)
    }

    private static func containerCell(_ capture: Cell, _ path: Cell, _ buffer: inout RowBuffer) -> Cell {
        guard case .text(let start, let count) = capture, case .text(let pathStart, let pathCount) = path else {
            return capture
        }
        let path = pathStart..<pathStart + Int(pathCount)
        let length = ContainerName.length(ofContainerIn: buffer.text.span.extracting(path))
        guard length > 0 else { return capture }
        return buffer.keep(path: start..<start + Int(count), path.prefix(length))
    }

    private static func normalizedLocale(_ locale: Cell, _ buffer: inout RowBuffer) -> Cell {
        guard case .text(let start, let count) = locale,
            let normalized = NormalizedLocale(buffer.bytes(start, count))
        else { return .null }
        return buffer.keep(normalized.bytes.span)
    }

    /// Returns a cell with the date of `time`, which is the first ten bytes of the string.
    private static func dayCell(of time: Cell) -> Cell {
        switch time {
        case .text(let start, _): .text(start: start, count: 10)
        case .null, .integer, .real: .null
        }
    }
}
