import Bytes
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
    mutating func buildRows(of batch: RecordBatch) throws(JSONError) -> [CountedRecord] {
        rows.removeAll()
        var records: [CountedRecord] = []
        records.reserveCapacity(batch.entries.count)
        for (index, entry) in batch.entries.enumerated() {
            _ = try envelope.readValue(in: batch.text, range: entry.envelope, policy: Self.readingPolicy)
            _ = try payload.readValue(in: batch.text, range: entry.payload, policy: Self.readingPolicy)
            add(entry, number: batch.firstNumber + index, batch.text.span.extracting(entry.payload))
            records.append(
                CountedRecord(
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
            system?.rows?.addRows(of: payload, type: record.type, to: &rows, nested: &nested)
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

// MARK: - Batches

/// The lines of consecutive records that are converted to rows by one job.
struct RecordBatch: Sendable {
    struct Entry: Sendable {
        let summary: RecordSummary
        /// The range, in ``RecordBatch/text``, of the record with its payload replaced by 0.
        let envelope: Range<Int>
        /// The range, in ``RecordBatch/text``, of the payload.
        let payload: Range<Int>
    }

    /// The number of the first record in the batch.
    let firstNumber: Int
    private(set) var text: [UInt8] = []
    private(set) var entries: [Entry] = []

    /// The size, in bytes, at which a batch is full.
    ///
    /// A full batch fits into the cache of a processor core.
    static let sizeGoal = 256 << 10

    init(firstNumber: Int) {
        self.firstNumber = firstNumber
        text.reserveCapacity(Self.sizeGoal + Self.sizeGoal / 4)
    }

    /// The number of the first record after the batch.
    var nextNumber: Int { firstNumber + entries.count }
    var isFull: Bool { text.count >= Self.sizeGoal }

    /// Adds a record.
    ///
    /// `line` is its canonical line, including the line feed. `payload` is the part of `line` with the payload.
    mutating func add(_ summary: RecordSummary, line: ArraySlice<UInt8>, payload: ArraySlice<UInt8>) {
        let start = text.count
        text += line[..<payload.startIndex]
        text.append(UInt8(ascii: "0"))
        text += line[payload.endIndex..<line.endIndex - 1]
        let end = text.count
        text += payload
        entries.append(Entry(summary: summary, envelope: start..<end, payload: end..<text.count))
    }
}

// MARK: - Containers and locales

/// The functions that determine to which app container on the phone a captured file belongs.
///
/// A container is a folder that contains `Documents` or `Library`, or that iOS or a backup names as a container. The
/// name of a container depends only on the label of the capture and the path of the file. Therefore, records have the
/// same container whether they are read from the capture or from a bundle.
///
/// Source: "Exports", section 1.
enum ContainerName {
    /// Returns the name of the container of the file at `path`.
    ///
    /// The name is the label of the capture, followed by the path of the container in the capture unless the path is
    /// empty.
    static func of(path: String, capture: String) -> String {
        let length = length(ofContainerIn: path.utf8.span)
        return length == 0 ? capture : "\(capture)/\(String(decoding: path.utf8.prefix(length), as: UTF8.self))"
    }

    /// Returns the length, in bytes, of the prefix of `path` that is the path of the container.
    ///
    /// The container is the innermost container folder. If the file is in an archive, only the part of `path` after the
    /// last exclamation mark is searched. If no container is found there, the archive is the container.
    static func length(ofContainerIn path: Span<UInt8>) -> Int {
        var name = lastName(in: path, endingAt: path.count)
        while name.lowerBound > 0, path[name.lowerBound - 1] != UInt8(ascii: "!") {
            let parent = lastName(in: path, endingAt: name.lowerBound - 1)
            let folder = path.extracting(parent)
            let grandparent = parent.lowerBound == 0 ? 0..<0 : lastName(in: path, endingAt: parent.lowerBound - 1)
            if isContainer(folder, in: path.extracting(grandparent)) { return parent.upperBound }
            name = parent
            if isContentFolder(folder) { break }
        }
        var end = name.lowerBound
        while end > 0, isSeparator(path[end - 1]) { end -= 1 }
        return end
    }

    /// Returns the range of the file or folder name that ends at `end`.
    private static func lastName(in path: Span<UInt8>, endingAt end: Int) -> Range<Int> {
        var start = end
        while start > 0, !isSeparator(path[start - 1]) { start -= 1 }
        return start..<end
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "!") }

    /// Returns whether a folder with this name is directly in a container.
    private static func isContentFolder(_ name: Span<UInt8>) -> Bool {
        name.equals("Documents") || name.equals("Library")
    }

    /// Returns whether a folder is a container according to its name or to the name of its parent folder.
    ///
    /// Source: "iOS backups", section 11, L9.
    private static func isContainer(_ name: Span<UInt8>, in parent: Span<UInt8>) -> Bool {
        name.extracting(first: 9).equals("AppDomain") || parent.equals("Application") || parent.equals("AppGroup")
            || parent.equals("PluginKitPlugin")
    }
}

/// The locale of an app in the form of a BCP 47 language tag, such as `zh-Hans-CN` for `zh-hans_cn`.
///
/// Apps store locales in several notations, which would otherwise be counted separately.
///
/// Source: RFC 5646, section 2.1.1.
private struct NormalizedLocale {
    /// The bytes of the tag.
    private(set) var bytes: [UInt8]

    /// Normalizes a locale, or returns `nil` if it does not consist of a language and other subtags.
    ///
    /// Keywords and character sets, such as in `en_US@calendar=buddhist`, are omitted.
    init?(_ locale: ArraySlice<UInt8>) {
        let tag = locale.prefix { $0 != UInt8(ascii: "@") && $0 != UInt8(ascii: ".") }
        let subtags = tag.split(omittingEmptySubsequences: false) { "-_".utf8.contains($0) }
        guard let language = subtags.first, (2...3).contains(language.count), language.allSatisfy(\.isLetter),
            subtags.allSatisfy({ (1...8).contains($0.count) && $0.allSatisfy { $0.isLetter || $0.isDigit } })
        else { return nil }
        bytes = language.map(\.lowercased)
        var isExtension = false
        var hasRegion = false
        for subtag in subtags.dropFirst() {
            if subtag.count == 1 { isExtension = true }
            let isWord = !isExtension && subtag.allSatisfy(\.isLetter)
            let isRegion = isWord && subtag.count == 2
            // Leanplum adds the region to a locale that can already contain one, as in `zh-Hant-TW_TW`.
            if isRegion && hasRegion { continue }
            hasRegion = hasRegion || isRegion
            bytes.append(UInt8(ascii: "-"))
            if isRegion {
                bytes += subtag.map(\.uppercased)
            } else {
                let start = bytes.count
                bytes += subtag.map(\.lowercased)
                // A word with four letters is a script.
                if isWord && subtag.count == 4 { bytes[start] = bytes[start].uppercased }
            }
        }
    }
}
