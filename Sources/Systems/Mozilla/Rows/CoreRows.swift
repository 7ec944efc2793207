import JSONText
import Telemetry

/// The conversion of core pings to table rows, with a column for each field and a separate row for each search count.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5.1 and 5.2.
enum CoreRows {
    static let type = "core"

    private static let fields = CorePing.fields.sorted

    static let core = Table(
        "core", aRowForEach: "core ping of Mozilla's telemetry-ios",
        [.record]
            + fields.map { TableColumn($0.key.description, columnKind(of: $0.form), $0.meaning) }
            + [
                TableColumn(
                    "other", .json, "all members that have no column, or whose type differs from that of the column")
            ],
        key: ["record"], indexes: [["clientId"]], belongsToRecords: true)

    static let searches = Table(
        ofRecords: "searches", aRowForEach: "search count of a core ping",
        [
            TableColumn(
                "source", .text,
                "the part of the app in which the search was started; the part of the key before the first dot"),
            TableColumn("engine", .text, "the search engine", isRequired: true),
            TableColumn("count", .integer, "the number of searches since the previous core ping"),
        ])

    private static func columnKind(of form: PayloadForm) -> TableColumn.Kind {
        switch form {
        case .version, .integer: .integer
        case .boolean: .flag
        case .string: .text
        case .orNull(let form): columnKind(of: form)
        case .any, .number, .list, .structure, .object, .open, .map: .json
        }
    }

    static func addRows(of document: JSONDocument, to rows: inout RecordRows) {
        rows.add(only: cells(of: document, &rows.buffer), to: core.name)
        if let searches = document.value(of: MeasurementKeys.searches, in: document.root) {
            rows.add(searchCountRows(searches, of: document, &rows.buffer), to: Self.searches.name)
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
        for field in fields {
            var found: JSONMember?
            while index < count {
                let member = document.member(at: index, of: document.root)
                let order = document.bytes(of: member.key).ordered(against: field.key)
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
            let cell = cell(of: member.value, field.form, in: document, &buffer)
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

    /// Returns the cell for `value`, or NULL if `value` does not have the type that `form` specifies.
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

    /// Returns a row for each search count, with its key `<source>.<engine>` split at the first dot.
    private static func searchCountRows(
        _ searches: JSONNode, of document: JSONDocument, _ buffer: inout RowBuffer
    ) -> [[Cell]] {
        (0..<document.memberCount(of: searches)).map { index in
            let member = document.member(at: index, of: searches)
            // Lone surrogates are replaced, because UTF-8 cannot express them.
            let key = document.string(of: member.key)
            let point = key.utf8.firstIndex(of: UInt8(ascii: "."))
            let source = point.map { String(key[..<$0]) }
            let engine = point.map { String(key[key.utf8.index(after: $0)...]) } ?? key
            return [buffer.keep(source), buffer.keep(engine), buffer.keep(integer: member.value, of: document)]
        }
    }
}
