import JSONText
import Telemetry

/// Core pings as rows: a column for each documented field, and the search counts one by one.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5.1 and 5.2.
enum CoreRows {
    static let type = "core"

    private static let fields = CorePing.fields.sorted

    static let core = Table(
        "core", aRowForEach: "core ping of Mozilla's telemetry-ios",
        [.record]
            + fields.map { TableColumn($0.key.description, kind(of: $0.form), $0.meaning) }
            + [TableColumn("other", .json, "all members that have no column, or another type than it has")],
        key: ["record"], indexes: [["clientId"]], isOfRecords: true)

    static let searches = Table(
        ofRecords: "searches", aRowForEach: "search count of a core ping",
        [
            TableColumn("source", .text, "where the search was begun: what stands in front of the first point"),
            TableColumn("engine", .text, "the search engine", isRequired: true),
            TableColumn("count", .integer, "how many searches there were since the core ping before"),
        ])

    private static func kind(of form: PayloadForm) -> TableColumn.Kind {
        switch form {
        case .version, .integer: .integer
        case .boolean: .flag
        case .string: .text
        case .orNull(let form): kind(of: form)
        case .any, .number, .list, .structure, .object, .open, .map: .json
        }
    }

    static func add(_ document: JSONDocument, to rows: inout RecordRows) {
        rows.add(only: cells(of: document, &rows.buffer), to: core.name)
        if let searches = document.value(of: MeasurementKeys.searches, in: document.root) {
            rows.add(counts(searches, of: document, &rows.buffer), to: Self.searches.name)
        }
    }

    /// The cells of all fields, and of what has none. Members and fields are both in canonical order, so one pass finds each.
    private static func cells(of document: JSONDocument, _ buffer: inout RowBuffer) -> [Cell] {
        var cells: [Cell] = []
        cells.reserveCapacity(fields.count + 1)
        var left: Set<JSONNode> = []
        var place = 0
        let count = document.memberCount(of: document.root)
        for field in fields {
            while place < count {
                let member = document.member(at: place, of: document.root)
                let order = document.bytes(of: member.key).ordered(against: field.key)
                guard order < 0 else { break }
                left.insert(member.key)
                place += 1
            }
            guard place < count else {
                cells.append(.null)
                continue
            }
            let member = document.member(at: place, of: document.root)
            guard document.bytes(of: member.key).ordered(against: field.key) == 0 else {
                cells.append(.null)
                continue
            }
            place += 1
            let cell = cell(of: member.value, field.form, in: document, &buffer)
            if cell == .null, document.kind(of: member.value) != .null { left.insert(member.key) }
            cells.append(cell)
        }
        while place < count {
            left.insert(document.member(at: place, of: document.root).key)
            place += 1
        }
        let other =
            left.isEmpty ? .null : buffer.keep(membersOf: document.root, of: document) { left.contains($0.key) }
        cells.append(other)
        return cells
    }

    /// The cell of a field; NULL for a value of another type.
    private static func cell(
        of value: JSONNode, _ form: PayloadForm, in document: JSONDocument, _ buffer: inout RowBuffer
    ) -> Cell {
        switch form {
        case .version, .integer: buffer.keep(integer: value, of: document)
        case .boolean: buffer.keep(flag: value, of: document)
        case .string: buffer.keep(string: value, of: document)
        case .orNull(let form): cell(of: value, form, in: document, &buffer)
        case .list: document.kind(of: value) == .array ? buffer.keep(json: value, of: document) : .null
        case .object, .open, .map:
            document.kind(of: value) == .object ? buffer.keep(json: value, of: document) : .null
        case .any, .number, .structure: buffer.keep(json: value, of: document)
        }
    }

    /// The rows of search counts, in the order of their keys: `<source>.<engine>`, split at the first point.
    private static func counts(
        _ searches: JSONNode, of document: JSONDocument, _ buffer: inout RowBuffer
    ) -> [[Cell]] {
        (0..<document.memberCount(of: searches)).map { place in
            let member = document.member(at: place, of: searches)
            // A key has no lone surrogates that matter: what UTF-8 cannot express is replaced.
            let key = document.string(of: member.key)
            let point = key.utf8.firstIndex(of: UInt8(ascii: "."))
            let source = point.map { String(key[..<$0]) }
            let engine = point.map { String(key[key.utf8.index(after: $0)...]) } ?? key
            return [buffer.keep(source), buffer.keep(engine), buffer.keep(integer: member.value, of: document)]
        }
    }
}
