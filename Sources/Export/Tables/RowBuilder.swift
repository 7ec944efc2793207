import Bytes
import JSONText
import Telemetry

/// A builder that creates table rows from the lines of records.
///
/// A line is parsed again, because it can differ from the record in memory: notes are added to lines, and lines can be
/// stored in a file until all input has been read. Its payload is needed in its final form, with pseudonyms.
///
/// The memory is reused for later batches.
struct RowBuilder {
    private let systems: SystemTable
    /// The rows of the last batch.
    var rows: RecordRows
    /// The record with its payload replaced by 0.
    private var envelope = JSONDocument()
    private var payload = JSONDocument()
    private var nested = JSONDocument()

    /// The policy for reading the lines of records.
    ///
    /// The lines are valid JSON but can contain unpaired surrogates.
    static let readingPolicy = JSONReadingPolicy(
        unpairedSurrogates: .keep, depthLimit: 513, valueLimit: .fixed)

    init(_ tables: [Table], systems: SystemTable, _ extraContents: ExtraContents) {
        self.systems = systems
        rows = RecordRows(tables, extraContents: extraContents)
    }

    /// Builds the rows of a batch in ``rows``, and returns the counted properties of each record.
    mutating func buildRows(of batch: RecordBatch) throws(JSONError) -> [CountedRecord] {
        rows.removeAll()
        var records: [CountedRecord] = []
        records.reserveCapacity(batch.entries.count)
        for (index, entry) in batch.entries.enumerated() {
            _ = try envelope.readValue(in: batch.text, range: entry.envelope, policy: Self.readingPolicy)
            _ = try payload.readValue(in: batch.text, range: entry.payload, policy: Self.readingPolicy)
            add(entry.summary, number: batch.firstNumber + index, batch.text[entry.payload])
            records.append(
                CountedRecord(
                    summary: entry.summary, eventCount: rows.eventCount,
                    sequenceNumber: systems.sequenceNumber(in: payload, of: entry.summary)))
        }
        envelope.reset()
        payload.reset()
        return records
    }

    private mutating func add(_ record: RecordSummary, number: Int, _ payloadBytes: ArraySlice<UInt8>) {
        let system = systems[record.system]
        var shared = RecordRows.SharedCells()
        shared.number = .integer(Int64(number))
        shared.system = rows.buffer.keep(record.system.description)
        shared.type = rows.buffer.keep(record.type)
        rows.keep(client: record.client, in: &shared)
        rows.keep(time: record.time, of: system, in: &shared)
        let notes = strings(RecordKeys.notes)
        shared.hasRoundedTimes = notes.contains { Record.isTimeUnitNote($0.utf8.span) }
        let labels = system?.vocabulary?.labels(of: payload, in: record, nested: &nested) ?? []
        rows.begin(shared, labels: labels)
        rows.add(rows: strings(RecordKeys.held).lazy.map { Hold(text: $0) }, to: ExportTables.holds)
        rows.add(rows: notes.lazy.map(NoteRow.init), to: ExportTables.notes)
        let device =
            system?.rows?.addRows(of: payload, type: record.type, to: &rows, nested: &nested) ?? DeviceCells()
        let row = RecordRow(
            envelope, isUploadable: record.isUploadable, shared, device, payload: payloadBytes)
        rows.add(row, number: number, to: ExportTables.records)
    }

    private func strings(_ key: JSONKey) -> [String] {
        guard let list = envelope.value(of: key, in: envelope.root), envelope.count(of: list) > 0 else { return [] }
        return envelope.elements(of: list).map { envelope.string(of: $0) }
    }
}

/// A row whose cells are strings of a record.
protocol EnvelopeRow: SendableMetatype {
    /// Stores the string of a member of `object`, which is a part of the record.
    ///
    /// Types implement this function, because a document that a requirement returned would be copied for each cell.
    func keep(_ key: JSONKey, of object: JSONNode?, in buffer: inout RowBuffer) -> Cell
}

/// A row of the table `records`.
struct RecordRow: EnvelopeRow {
    /// The record with its payload replaced by 0.
    let envelope: JSONDocument
    let isUploadable: Bool
    let shared: RecordRows.SharedCells
    let device: DeviceCells
    let payload: ArraySlice<UInt8>

    let app, target, source: JSONNode?

    init(
        _ envelope: JSONDocument, isUploadable: Bool, _ shared: RecordRows.SharedCells, _ device: DeviceCells,
        payload: ArraySlice<UInt8>
    ) {
        self.envelope = envelope
        self.isUploadable = isUploadable
        self.shared = shared
        self.device = device
        self.payload = payload
        app = envelope.value(of: RecordKeys.app, in: envelope.root)
        target = envelope.value(of: RecordKeys.target, in: envelope.root)
        source = envelope.value(of: RecordKeys.source, in: envelope.root)
    }

    func keep(_ key: JSONKey, of object: JSONNode?, in buffer: inout RowBuffer) -> Cell {
        buffer.keep(string: envelope.value(of: key, in: object), of: envelope)
    }

    func container(in buffer: inout RowBuffer) -> Cell {
        guard let capture = envelope.value(of: RecordKeys.capture, in: source),
            let pathNode = envelope.value(of: RecordKeys.path, in: source)
        else { return .null }
        let path = envelope.string(of: pathNode)
        let length = ContainerName.length(ofContainerIn: path.utf8.span)
        guard length > 0 else { return buffer.keep(string: capture, of: envelope) }
        return buffer.keep(path: envelope.string(of: capture), path.utf8.span.extracting(first: length))
    }

    func osFamily(in buffer: inout RowBuffer) -> Cell {
        guard case .text(let start, let count) = device.os else { return .null }
        return buffer.keep(OSFamily(buffer.bytes(start, count)).rawValue)
    }

    func normalizedLocale(in buffer: inout RowBuffer) -> Cell {
        guard case .text(let start, let count) = device.locale,
            let normalized = NormalizedLocale(buffer.bytes(start, count))
        else { return .null }
        return buffer.keep(normalized.bytes.span)
    }
}

extension Column where Row: EnvelopeRow {
    /// Creates a column of the strings of a member of `object`, which is a part of the record.
    static func member(
        _ name: String, _ meaning: String, isRequired: Bool = false, _ key: JSONKey,
        of object: @escaping @Sendable (Row) -> JSONNode?
    ) -> Self {
        stored(name, .text, meaning, isRequired: isRequired) { row, buffer in
            row.keep(key, of: object(row), in: &buffer)
        }
    }
}

/// A row of the table `repeats`.
struct RepeatRow: EnvelopeRow {
    let envelope: JSONDocument
    /// The number of the record that was kept, or `nil` if it is not exported.
    let keptNumber: Int?
    let isPayloadEqual: Bool

    var source: JSONNode? { envelope.value(of: RecordKeys.source, in: envelope.root) }

    /// Creates the row of a dropped record.
    init(_ copy: DroppedCopy, keptNumber: Int?) throws(JSONError) {
        var envelope = JSONDocument()
        _ = try envelope.readValue(in: copy.envelope, range: 0..<copy.envelope.count, policy: RowBuilder.readingPolicy)
        self.envelope = envelope
        self.keptNumber = keptNumber
        isPayloadEqual = copy.isPayloadEqual
    }

    func keep(_ key: JSONKey, of object: JSONNode?, in buffer: inout RowBuffer) -> Cell {
        buffer.keep(string: envelope.value(of: key, in: object), of: envelope)
    }
}

extension JSONDocument {
    /// Returns the value for `key` in an object, or `nil` if there is none or `object` is `nil` or not an object.
    func value(of key: JSONKey, in object: JSONNode?) -> JSONNode? {
        guard let object else { return nil }
        return value(of: key, in: object)
    }
}

/// A row of the table `notes`: the code of a note, and the text after it.
struct NoteRow {
    let code: String
    let text: String?

    init(_ note: String) {
        let parts = note.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        code = String(parts[0])
        text = parts.count > 1 ? String(parts[1]) : nil
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

/// The family of an operating system, for which systems of telemetry use several spellings.
///
/// Source: "Exports", section 1.
enum OSFamily: String, CaseIterable {
    case ios, tvos, watchos, android, macos, windows, linux, other

    private static let names: [CapturedText: OSFamily] = [
        "ios": .ios, "ipados": .ios, "iphone os": .ios, "iphoneos": .ios, "tvos": .tvos, "watchos": .watchos,
        "android": .android, "darwin": .macos, "mac os x": .macos, "macos": .macos, "windows": .windows,
        "winnt": .windows, "linux": .linux,
    ]

    /// Creates the family of an operating system from its name in any letter case.
    init(_ name: ArraySlice<UInt8>) {
        self = Self.names[CapturedText(String(decoding: name, as: UTF8.self)).lowercasedASCII()] ?? .other
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
        let subtags = tag.split(omittingEmptySubsequences: false) { $0.isOne(of: "-_") }
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
