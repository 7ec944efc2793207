import Bytes
import JSONText

/// A reason why Mozilla's pipeline does not write an upload to a live table.
public struct RowRefusal: Error, Sendable, Equatable {
    /// The reason, such as `not a record: client_info`.
    public let reason: String

    /// Creates a refusal.
    public init(_ reason: String) { self.reason = reason }
}

/// A transform of JSON objects into rows of a table, as Mozilla's pipeline makes them.
///
/// Each key of an object is placed under the column with its name. Everything that has no column, or that cannot be
/// converted to the type of its column, is collected as JSON in the column `additional_properties`, with the shape and
/// the keys of the object.
///
/// Source: "BigQuery rows", sections 4 and 5.
public struct RowTransform: Sendable {
    /// The JSON of a value in a row.
    private struct Value {
        var range: Range<Int>
        /// The index of the first fault in the value, or `nil` if the table accepts the value.
        var fault: Int?
    }

    /// A value that does not match its column.
    private struct Fault {
        let problem: String
        var path: [String] = []
    }

    /// The member of the rest to which what has no column is written.
    private enum RestPlace {
        case member(JSONNode)
        /// An element of an array, before which the caller writes the comma.
        case element
    }

    /// The JSON of values, where a value that contains others contains copies of them.
    private var texts = TextBuffer()
    /// The JSON of everything that was not placed.
    private var restText = TextBuffer()
    /// The columns with values of the objects that are being transformed, sorted by column within each object.
    private var placed: [(column: Int, value: Value)] = []
    /// The elements of the arrays that are being transformed.
    private var elements: [Value] = []
    private var faults: [Fault] = []
    private var name: [UInt8] = []
    private var scratch = TextBuffer()
    /// The range of the finished row in ``texts``.
    private var rowRange = 0..<0

    /// The keys that belong to a column with the suffix `2`, because the columns without it have wrong types.
    private static let renamedKeys: [JSONKey] = ["url", "text", "jwe", "labeled_rate"]
    private static let additionalProperties: JSONKey = "additional_properties"
    private static let metadata: JSONKey = "metadata"
    private static let exactIntegerLimit: UInt64 = 1 << 53

    /// Creates a transform without a row.
    public init() {}
    /// The JSON of the row.
    public var row: Span<UInt8> { @_lifetime(borrow self) get { texts.span.extracting(rowRange) } }
    /// The JSON of everything that was not placed.
    public var rest: Span<UInt8> { @_lifetime(borrow self) get { restText.span } }

    /// Removes all values, but keeps the memory for the next row.
    public mutating func removeAll() {
        texts.removeAll()
        rowRange = 0..<0
        restText.removeAll()
        placed.removeAll(keepingCapacity: true)
        elements.removeAll(keepingCapacity: true)
        faults.removeAll(keepingCapacity: true)
    }

    /// Adds the members of the root object of `document` to the row, except for those with the keys in `ignored`.
    ///
    /// - Throws: ``RowRefusal`` if the pipeline would write the whole upload to its table of errors.
    public mutating func add(
        _ document: JSONDocument, _ columns: TableColumns, ignoring ignored: [JSONKey] = []
    ) throws(RowRefusal) {
        if restText.count == 0 { restText.append(UInt8(ascii: "{")) }
        let ignored = ignored.compactMap { document.value(of: $0, in: document.root) }
        for member in document.membersInSource(of: document.root) where !ignored.contains(member.value) {
            try place(
                document.bytes(of: member.key), member.value, .member(member.key), of: document, in: columns, from: 0)
        }
    }

    /// Completes the row, which is then ``row``.
    ///
    /// - Parameters:
    ///   - columns: The columns of the table.
    ///   - metadata: The document and the node of the column `metadata`, which is not transformed, or `nil`.
    /// - Throws: ``RowRefusal`` if the row does not match the columns.
    public mutating func finish(
        _ columns: TableColumns, metadata: (document: JSONDocument, node: JSONNode)? = nil
    ) throws(RowRefusal) {
        restText.append(UInt8(ascii: "}"))
        if let metadata, let column = columns.index(of: Self.metadata) {
            set(column, unchanged(metadata.node, of: metadata.document, columns.sorted[column]), from: 0)
        }
        if let column = columns.index(of: Self.additionalProperties) {
            let (start, rest) = (texts.count, restText)
            texts.append(jsonString: rest.span)
            set(column, Value(range: start..<texts.count), from: 0)
        }
        let row = record(from: 0, columns)
        if let fault = row.fault.map({ faults[$0] }) {
            throw RowRefusal("\(fault.problem): \(fault.path.joined(separator: "."))")
        }
        rowRange = row.range
    }

    // MARK: Objects

    /// Places a value under the column for `key`, or appends it to the rest.
    ///
    /// `start` is the index in ``placed`` of the first column of the same object.
    private mutating func place(
        _ key: Span<UInt8>, _ value: JSONNode, _ rest: RestPlace, of document: JSONDocument, in columns: TableColumns,
        from start: Int
    ) throws(RowRefusal) {
        let renamed = renamedColumn(for: key, in: columns)
        let same = renamed == nil ? columns.index(of: key) : nil
        var column = renamed ?? same
        if column == nil {
            name.removeAll(keepingCapacity: true)
            ColumnName.append(columnFor: key, to: &name)
            column = columns.index(of: name.span)
        }
        guard let column else { return appendRest(value, rest, of: document) }
        // The value of an earlier key with the same column has replaced the value of this key.
        if same != nil, let index = index(of: column, from: start), placed[index].column == column { return }
        let target = columns.sorted[column]
        if let value = try converted(value, to: target, rest, of: document, isInPlace: same != nil) {
            set(column, value, from: start)
        }
    }

    private mutating func renamedColumn(for key: Span<UInt8>, in columns: TableColumns) -> Int? {
        guard Self.renamedKeys.contains(where: { key.equals($0.utf8.span) }) else { return nil }
        name.removeAll(keepingCapacity: true)
        name.append(copying: key)
        name.append(UInt8(ascii: "2"))
        return columns.index(of: name.span)
    }

    /// Returns the index in ``placed`` of the first column that is not before `column`, or `nil` if there is none.
    private func index(of column: Int, from start: Int) -> Int? {
        let index = (start..<placed.count).partitioningIndex { placed[$0].column >= column }
        return index < placed.count ? index : nil
    }

    private mutating func set(_ column: Int, _ value: Value, from start: Int) {
        guard let index = index(of: column, from: start) else { return placed.append((column, value)) }
        if placed[index].column == column {
            placed[index].value = value
        } else {
            placed.insert((column, value), at: index)
        }
    }

    /// Returns the object of the columns in ``placed`` from `start`, and removes them from there.
    private mutating func record(from start: Int, _ columns: TableColumns) -> Value {
        let begin = texts.count
        var fault: Int?
        texts.append(UInt8(ascii: "{"))
        let labels = columns.labels
        for index in start..<placed.count {
            let (column, value) = placed[index]
            if index > start { texts.append(UInt8(ascii: ",")) }
            texts.append(copying: labels.span.extracting(columns.labelRanges[column]))
            texts.append(copyOf: value.range)
            if let inner = value.fault, fault == nil {
                faults[inner].path.insert(columns.sorted[column].name.description, at: 0)
                fault = inner
            }
        }
        texts.append(UInt8(ascii: "}"))
        for column in columns.required where fault == nil {
            if let index = index(of: column, from: start), placed[index].column == column { continue }
            faults.append(Fault(problem: "missing", path: [columns.sorted[column].name.description]))
            fault = faults.count - 1
        }
        placed.removeSubrange(start...)
        return Value(range: begin..<texts.count, fault: fault)
    }

    /// Transforms the members of an object, whose rest goes to the object at the end of the rest.
    private mutating func addMembers(
        of object: JSONNode, _ document: JSONDocument, _ columns: TableColumns
    ) throws(RowRefusal) -> Value {
        let start = placed.count
        for member in document.membersInSource(of: object) {
            try place(
                document.bytes(of: member.key), member.value, .member(member.key), of: document, in: columns,
                from: start)
        }
        return record(from: start, columns)
    }

    /// Transforms an array into an object with the keys `f0_`, `f1_` and so on.
    private mutating func tuple(
        _ array: JSONNode, _ rest: RestPlace, of document: JSONDocument, _ columns: TableColumns
    ) throws(RowRefusal) -> Value {
        let start = placed.count
        var key: [UInt8] = []
        try forEach(document.elements(of: array), rest, of: document) { transform, index, element throws(RowRefusal) in
            key.removeAll(keepingCapacity: true)
            key.append(UInt8(ascii: "f"))
            key += String(index).utf8
            key.append(UInt8(ascii: "_"))
            try transform.place(key.span, element, .element, of: document, in: columns, from: start)
        }
        return record(from: start, columns)
    }

    // MARK: Values

    /// Returns a value in the form of its column, or `nil` if it is not placed.
    ///
    /// `isInPlace` states whether the key of the value is the name of the column.
    private mutating func converted(
        _ value: JSONNode, to column: TableColumn, _ rest: RestPlace, of document: JSONDocument, isInPlace: Bool
    ) throws(RowRefusal) -> Value? {
        let kind = document.kind(of: value)
        if kind == .null { return nil }
        guard let fields = column.fields else {
            let scalar =
                column.isRepeated
                ? try scalars(value, column, of: document) : scalar(value, column, of: document)
            if scalar == nil { appendRest(value, rest, of: document) }
            return scalar.flatMap { isEmptyContainer($0) ? nil : $0 }
        }
        switch (fields.shape, kind) {
        case (.map, .object) where column.isRepeated: return try map(value, fields, rest, of: document)
        case (.map, _) where column.isRepeated: return isInPlace ? unchanged(value, of: document, column) : nil
        case (.nestedList, .array) where column.isRepeated:
            return try nestedList(value, fields.sorted[0], rest, of: document)
        case (_, _) where column.isRepeated: return try records(value, column, fields, rest, of: document)
        case (_, .array):
            let value = try tuple(value, rest, of: document, fields)
            return isEmptyContainer(value) ? nil : value
        case (_, .object):
            let beginning = beginRest(rest, UInt8(ascii: "{"), of: document)
            let value = try addMembers(of: value, document, fields)
            endRest(beginning, UInt8(ascii: "}"))
            return isEmptyContainer(value) ? nil : value
        default: return faulty("not a record")
        }
    }

    /// Returns whether a value without faults is `{}` or `[]`.
    private func isEmptyContainer(_ value: Value) -> Bool {
        guard value.fault == nil, value.range.count == 2 else { return false }
        let first = texts.span[value.range.lowerBound]
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    private mutating func faulty(_ problem: String) -> Value {
        faults.append(Fault(problem: problem))
        return Value(range: texts.count..<texts.count, fault: faults.count - 1)
    }

    private mutating func map(
        _ object: JSONNode, _ fields: TableColumns, _ rest: RestPlace, of document: JSONDocument
    ) throws(RowRefusal) -> Value {
        let first = elements.count
        let column = fields.sorted.count > 1 ? fields.sorted[1] : nil
        let beginning = beginRest(rest, UInt8(ascii: "{"), of: document)
        for member in document.membersInSource(of: object) {
            var value: Value?
            if let column {
                value = try converted(member.value, to: column, .member(member.key), of: document, isInPlace: false)
                if value == nil, column.isRequired { value = faulty("missing") }
            } else {
                appendRest(member.value, .member(member.key), of: document)
            }
            let start = texts.count
            texts.append(Pieces.key)
            texts.append(jsonString: document.bytes(of: member.key))
            endElement(from: start, column, value, separator: Pieces.comma)
        }
        endRest(beginning, UInt8(ascii: "}"))
        return list(from: first)
    }

    private mutating func nestedList(
        _ array: JSONNode, _ column: TableColumn, _ rest: RestPlace, of document: JSONDocument
    ) throws(RowRefusal) -> Value {
        let first = elements.count
        try forEach(document.elements(of: array), rest, of: document) { transform, _, element throws(RowRefusal) in
            let value = try transform.converted(element, to: column, .element, of: document, isInPlace: false)
            let start = transform.texts.count
            transform.texts.append(UInt8(ascii: "{"))
            transform.endElement(from: start, column, value, separator: Pieces.empty)
        }
        return list(from: first)
    }

    /// Appends the last member and the end of an object that begins at `start`, and adds it to ``elements``.
    private mutating func endElement(
        from start: Int, _ column: TableColumn?, _ value: Value?, separator: ConstantText
    ) {
        if let column, let value {
            let label = column.label
            texts.append(separator)
            texts.append(copying: label.span)
            texts.append(copyOf: value.range)
            if let fault = value.fault { faults[fault].path.insert(column.name.description, at: 0) }
        }
        texts.append(UInt8(ascii: "}"))
        elements.append(Value(range: start..<texts.count, fault: value?.fault))
    }

    /// Transforms the elements of an array, or the values of an object, into records.
    private mutating func records(
        _ value: JSONNode, _ column: TableColumn, _ fields: TableColumns, _ rest: RestPlace, of document: JSONDocument
    ) throws(RowRefusal) -> Value? {
        let isArray = document.kind(of: value) == .array
        let nodes = isArray ? document.elements(of: value) : document.membersInSource(of: value).map(\.value)
        let areTuples = nodes.allSatisfy { document.kind(of: $0) == .array }
        guard isArray || !areTuples else { throw RowRefusal("not a list: \(column.name)") }
        if nodes.isEmpty { return nil }
        let first = elements.count
        try forEach(nodes, rest, of: document, placeholder: Pieces.object) { transform, _, node throws(RowRefusal) in
            if areTuples {
                transform.elements.append(try transform.tuple(node, .element, of: document, fields))
            } else if document.kind(of: node) == .object {
                let beginning = transform.beginRest(.element, UInt8(ascii: "{"), of: document)
                transform.elements.append(try transform.addMembers(of: node, document, fields))
                transform.endRest(beginning, UInt8(ascii: "}"))
            } else {
                // BigQuery accepts only objects.
                transform.elements.append(transform.record(from: transform.placed.count, fields))
                transform.appendRest(node, .element, of: document)
            }
        }
        return list(from: first)
    }

    /// Returns the array of the values in ``elements`` from `first`, and removes them from there.
    private mutating func list(from first: Int) -> Value {
        let start = texts.count
        var fault: Int?
        texts.append(UInt8(ascii: "["))
        for index in first..<elements.count {
            if index > first { texts.append(UInt8(ascii: ",")) }
            texts.append(copyOf: elements[index].range)
            fault = fault ?? elements[index].fault
        }
        texts.append(UInt8(ascii: "]"))
        elements.removeSubrange(first...)
        return Value(range: start..<texts.count, fault: fault)
    }

    // MARK: Scalars

    /// Returns the elements of an array, or `nil` for any other value.
    private mutating func scalars(
        _ value: JSONNode, _ column: TableColumn, of document: JSONDocument
    ) throws(RowRefusal) -> Value? {
        guard document.kind(of: value) == .array else { return nil }
        let first = elements.count
        for element in document.elements(of: value) {
            guard let scalar = scalar(element, column, of: document) else {
                throw RowRefusal("list element: \(column.name)")
            }
            elements.append(scalar)
        }
        return list(from: first)
    }

    /// Returns a value as the type of its column, or `nil` if there is no conversion.
    private mutating func scalar(_ value: JSONNode, _ column: TableColumn, of document: JSONDocument) -> Value? {
        let start = texts.count
        let kind = document.kind(of: value)
        switch column.type {
        case .string: appendString(value, column, of: document)
        case .integer where kind == .true || kind == .false, .float where kind == .true || kind == .false:
            texts.append(UInt8(ascii: kind == .true ? "1" : "0"))
        case .integer:
            guard kind == .number, let number = Int64(decimal: document.bytes(of: value)) else { return nil }
            let quote = number.magnitude < Self.exactIntegerLimit ? Pieces.empty : Pieces.quote
            texts.append(quote)
            if number < 0 { texts.append(UInt8(ascii: "-")) }
            texts.append(decimal: number.magnitude)
            texts.append(quote)
        case .float:
            guard kind == .number else { return nil }
            if case .text = JacksonNumber(document.bytes(of: value)) { return nil }
            texts.append(numberAsRead: document.bytes(of: value), in: .canonical)
        case .boolean where kind != .true && kind != .false: return nil
        case .boolean, .json: document.write(value, in: .canonical, to: &texts)
        case .timestamp where kind == .string && !document.bytes(of: value).beginsWithDate:
            return faulty("not \(column.type.rawValue)")
        case .timestamp, .other, .record:
            let isEmpty = (kind == .array || kind == .object) && document.count(of: value) == 0
            guard kind == .string || kind == .number || isEmpty else { return faulty("not \(column.type.rawValue)") }
            document.write(value, in: .canonical, to: &texts)
        }
        return Value(range: start..<texts.count)
    }

    /// Appends a string, or the JSON of any other value as a string.
    private mutating func appendString(_ value: JSONNode, _ column: TableColumn, of document: JSONDocument) {
        switch document.kind(of: value) {
        case .string: return texts.append(jsonString: document.bytes(of: value))
        case .number:
            // The JSON of a number beyond the range of doubles is already a string.
            if case .text = JacksonNumber(document.bytes(of: value)) {
                return texts.append(numberAsRead: document.bytes(of: value), in: .jackson)
            }
        case .object:
            if let sum = useCount(value, column, of: document) {
                return texts.append(copying: "\"\(sum)\"".utf8.span)
            }
        case .removed, .null, .true, .false, .array: break
        }
        scratch.removeAll()
        document.write(value, in: .jackson, to: &scratch)
        let text = scratch
        texts.append(jsonString: text.span)
    }

    /// Returns the only number of a histogram that counts uses of a feature, or `nil` for any other object.
    private func useCount(_ object: JSONNode, _ column: TableColumn, of document: JSONDocument) -> Int64? {
        func number(_ key: JSONKey, in object: JSONNode?) -> Int64? {
            object.flatMap { document.value(of: key, in: $0) }.flatMap { Int64(decimal: document.bytes(of: $0)) }
        }
        guard column.name.utf8.starts(with: "use_counter2".utf8), number("histogram_type", in: object) == 2,
            let sum = number("sum", in: object), sum >= 0,
            sum == number("1", in: document.value(of: "values", in: object)) ?? 0
        else { return nil }
        return sum
    }

    // MARK: Unchanged values

    /// Returns a value that is not transformed, without members that have no column.
    ///
    /// The value has a fault if it does not match the column.
    private mutating func unchanged(_ value: JSONNode, of document: JSONDocument, _ column: TableColumn) -> Value {
        guard column.isRepeated else { return unchangedElement(value, of: document, column) }
        guard document.kind(of: value) == .array else { return faulty("not a list") }
        let first = elements.count
        for element in document.elements(of: value) {
            elements.append(unchangedElement(element, of: document, column))
        }
        return list(from: first)
    }

    private mutating func unchangedElement(
        _ value: JSONNode, of document: JSONDocument, _ column: TableColumn
    ) -> Value {
        let kind = document.kind(of: value)
        if let fields = column.fields {
            guard kind == .object else { return faulty("not a record") }
            let start = placed.count
            for position in 0..<document.memberCount(of: value) {
                let member = document.member(at: position, of: value)
                guard document.kind(of: member.value) != .null,
                    let index = fields.index(of: document.bytes(of: member.key))
                else { continue }
                set(index, unchanged(member.value, of: document, fields.sorted[index]), from: start)
            }
            return record(from: start, fields)
        }
        let isKept =
            switch column.type {
            case .string: kind == .string
            case .integer, .float: kind == .number
            case .boolean: kind == .true || kind == .false
            case .json, .timestamp, .other, .record: true
            }
        guard isKept, let scalar = scalar(value, column, of: document) else {
            return faulty("not \(column.type.rawValue)")
        }
        return scalar
    }

    // MARK: The rest

    /// Appends a value to the rest, unchanged.
    private mutating func appendRest(_ value: JSONNode, _ place: RestPlace, of document: JSONDocument) {
        appendRestKey(place, of: document)
        document.write(value, in: .jackson, to: &restText)
    }

    private mutating func appendRestKey(_ place: RestPlace, of document: JSONDocument) {
        guard case .member(let key) = place else { return }
        // Only the start of an object ends with a brace of this kind.
        if restText.span[restText.count - 1] != UInt8(ascii: "{") { restText.append(UInt8(ascii: ",")) }
        restText.append(jacksonString: document.bytes(of: key))
        restText.append(UInt8(ascii: ":"))
    }

    /// Begins an array or object in the rest, and returns the lengths of the rest before and after that.
    private mutating func beginRest(
        _ place: RestPlace, _ bracket: UInt8, of document: JSONDocument
    ) -> (start: Int, content: Int) {
        let start = restText.count
        appendRestKey(place, of: document)
        restText.append(bracket)
        return (start, restText.count)
    }

    /// Ends an array or object in the rest, or removes it if it is empty.
    private mutating func endRest(_ beginning: (start: Int, content: Int), _ bracket: UInt8, isEmpty: Bool = false) {
        if isEmpty || restText.count == beginning.content {
            restText.removeAll(from: beginning.start)
        } else {
            restText.append(bracket)
        }
    }

    /// Calls `body` for each element of an array, and adds an array with their rests to the rest, unless none has a rest.
    ///
    /// `placeholder` takes the place of a missing rest.
    private mutating func forEach(
        _ nodes: [JSONNode], _ rest: RestPlace, of document: JSONDocument, placeholder: ConstantText = Pieces.null,
        _ body: (inout RowTransform, Int, JSONNode) throws(RowRefusal) -> Void
    ) throws(RowRefusal) {
        let beginning = beginRest(rest, UInt8(ascii: "["), of: document)
        var hasRest = false
        for (index, node) in nodes.enumerated() {
            if index > 0 { restText.append(UInt8(ascii: ",")) }
            let count = restText.count
            try body(&self, index, node)
            if restText.count > count { hasRest = true } else { restText.append(placeholder) }
        }
        endRest(beginning, UInt8(ascii: "]"), isEmpty: !hasRest)
    }
}

extension Span<UInt8> {
    /// Whether the bytes begin with a date such as `2018-05-24`.
    fileprivate var beginsWithDate: Bool {
        guard count >= 10 else { return false }
        for index in 0..<10 {
            let isHyphen = index == 4 || index == 7
            guard isHyphen ? self[index] == UInt8(ascii: "-") : self[index].isDigit else { return false }
        }
        return true
    }
}

/// Constant parts of rows.
private enum Pieces {
    static let (comma, empty, quote): (ConstantText, ConstantText, ConstantText) = (",", "", "\"")
    static let (key, null, object): (ConstantText, ConstantText, ConstantText) = ("{\"key\":", "null", "{}")
}
