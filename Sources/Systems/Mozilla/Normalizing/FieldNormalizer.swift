import JSONText
import Telemetry

/// A normalizer of the documented fields of a JSON object, which adds a fault for each invalid field.
///
/// A value is changed only if its meaning is unambiguous. Each change adds a note with a case id from the source.
///
/// Fields are passed as indexes in a span, because copying a field would update reference counts that all threads
/// share.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5.3 and 6.4.
struct FieldNormalizer: ~Escapable {
    /// The fields that the object may have, in the canonical order of their keys.
    let fields: Span<PayloadField>
    /// The prefix of field names in notes: the path of the object followed by a dot, or an empty string.
    let prefix: String

    @_lifetime(copy fields)
    init(_ fields: Span<PayloadField>, prefix: String = "") {
        self.fields = fields
        self.prefix = prefix
    }

    func normalize(_ object: JSONNode, in document: inout JSONDocument, findings: inout Findings) {
        var removed: Set<JSONNode> = []
        var fieldIndex = 0
        for position in 0..<document.memberCount(of: object) {
            let member = document.member(at: position, of: object)
            guard let found = indexOfField(for: member.key, from: &fieldIndex, in: document, findings: &findings),
                fields[found].presence != .added
            else { continue }
            if isRemovableNull(member.value, found, in: document) {
                findings.note("C8 \(name(ofFieldAt: found)): null removed")
                removed.insert(member.value)
            } else {
                normalize(member.value, found, fields[found].form, in: &document, findings: &findings)
            }
        }
        while fieldIndex < fields.count {
            addFaultIfRequired(fieldIndex, findings: &findings)
            fieldIndex += 1
        }
        Self.remove(removed, from: object, of: &document)
    }

    /// Removes the members with the given values, which can be almost all members of a large object.
    private static func remove(_ values: Set<JSONNode>, from object: JSONNode, of document: inout JSONDocument) {
        if !values.isEmpty { document.removeMembers(from: object) { _, member in values.contains(member.value) } }
    }

    /// Returns the index of the field for `key`, or `nil` if the field is not documented.
    ///
    /// Advances `fieldIndex` beyond the key, and adds a fault for each skipped field that is required.
    private func indexOfField(
        for key: JSONNode, from fieldIndex: inout Int, in document: JSONDocument, findings: inout Findings
    ) -> Int? {
        let start = KeyPrefix(document.bytes(of: key))
        while fieldIndex < fields.count {
            let order =
                start.ordered(against: fields[fieldIndex].key.start)
                ?? document.bytes(of: key).ordered(against: fields[fieldIndex].key)
            if order < 0 { return nil }
            fieldIndex += 1
            if order == 0 { return fieldIndex - 1 }
            addFaultIfRequired(fieldIndex - 1, findings: &findings)
        }
        return nil
    }

    private func addFaultIfRequired(_ fieldIndex: Int, findings: inout Findings) {
        if fields[fieldIndex].presence == .required { findings.fault("\(name(ofFieldAt: fieldIndex)) missing") }
    }

    private func name(ofFieldAt fieldIndex: Int) -> String { "\(prefix)\(fields[fieldIndex].key)" }

    /// Returns whether a value is an invalid `null` that can be removed because the field is optional (case C8).
    private func isRemovableNull(_ value: JSONNode, _ fieldIndex: Int, in document: JSONDocument) -> Bool {
        document.kind(of: value) == .null && !fields[fieldIndex].form.isNullable
            && fields[fieldIndex].presence != .required
    }

    private func normalize(
        _ value: JSONNode, _ fieldIndex: Int, _ form: PayloadForm, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        switch form {
        case .version(let known): normalizeVersion(value, fieldIndex, known, in: &document, findings: &findings)
        case .integer(let least):
            _ = normalizeInteger(value, fieldIndex, isNatural: least == 0, in: &document, findings: &findings)
        case .boolean: normalizeBoolean(value, fieldIndex, in: &document, findings: &findings)
        case .string(let form): checkString(value, fieldIndex, form, in: document, findings: &findings)
        case .orNull(let form):
            guard document.kind(of: value) != .null else { return }
            normalize(value, fieldIndex, form, in: &document, findings: &findings)
        case .map(_, .integer): normalizeIntegers(value, fieldIndex, in: &document, findings: &findings)
        case .map(_, let form):
            normalizeStrings(value, fieldIndex, isNullable: form.isNullable, in: &document, findings: &findings)
        case .list(.structure):
            guard checkKind(.array, value, fieldIndex, in: document, findings: &findings) else { return }
            EventTuples.normalize(value, in: &document, findings: &findings)
        case .list(let form):
            checkStringList(value, fieldIndex, isNullable: form.isNullable, in: document, findings: &findings)
        case .object(let fields), .open(let fields):
            normalizeObject(value, fieldIndex, fields, in: &document, findings: &findings)
        case .any, .number, .structure: return
        }
    }

    /// Returns whether `value` is of the kind `kind`, and adds a fault if it is not.
    private func checkKind(
        _ kind: JSONKind, _ value: JSONNode, _ fieldIndex: Int, in document: JSONDocument, findings: inout Findings
    ) -> Bool {
        if document.kind(of: value) == kind { return true }
        findings.fault(
            "\(name(ofFieldAt: fieldIndex)) is no \(kind == .string ? "string" : kind == .array ? "array" : "object")")
        return false
    }
}

// MARK: - Scalars

extension FieldNormalizer {
    private func normalizeVersion(
        _ value: JSONNode, _ fieldIndex: Int, _ known: ClosedRange<Int>, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard normalizeInteger(value, fieldIndex, isNatural: false, in: &document, findings: &findings) else { return }
        if let version = Int64(decimal: document.bytes(of: value)), known.contains(Int(version)) { return }
        findings.fault("\(name(ofFieldAt: fieldIndex)) has no schema")
    }

    /// Normalizes an integer, and returns whether `value` is now an integer that the schema allows.
    private func normalizeInteger(
        _ value: JSONNode, _ fieldIndex: Int, isNatural: Bool, in document: inout JSONDocument, findings: inout Findings
    ) -> Bool {
        let outcome = IntegerNormalizer.normalize(value, in: &document)
        guard findings.add(outcome, name: { name(ofFieldAt: fieldIndex) }) else { return false }
        if isNatural, JSONNumberText.isNegative(document.bytes(of: value)) {
            findings.fault("\(name(ofFieldAt: fieldIndex)) is negative")
            return false
        }
        return true
    }

    /// Replaces 0 with `false` and 1 with `true` (case C5).
    private func normalizeBoolean(
        _ value: JSONNode, _ fieldIndex: Int, in document: inout JSONDocument, findings: inout Findings
    ) {
        switch document.kind(of: value) {
        case .true, .false: return
        case .number where document.bytes(of: value).equals("0") || document.bytes(of: value).equals("1"):
            let isOne = document.bytes(of: value).equals("1")
            document.replace(value, with: isOne)
            findings.note("C5 \(name(ofFieldAt: fieldIndex)): \(isOne ? 1 : 0) written as \(isOne)")
        default: findings.fault("\(name(ofFieldAt: fieldIndex)) is no boolean")
        }
    }

    private func checkString(
        _ value: JSONNode, _ fieldIndex: Int, _ form: StringForm, in document: JSONDocument, findings: inout Findings
    ) {
        guard checkKind(.string, value, fieldIndex, in: document, findings: &findings) else { return }
        switch form {
        case .any, .atMost: return
        case .uuid:
            if !document.bytes(of: value).isUUID { findings.fault("\(name(ofFieldAt: fieldIndex)) is not a UUID") }
        case .named(let form, let matches):
            if !matches(document.bytes(of: value)) { findings.fault("\(name(ofFieldAt: fieldIndex)) is not a \(form)") }
        }
    }
}

// MARK: - Collections

extension FieldNormalizer {
    private func normalizeObject(
        _ object: JSONNode, _ fieldIndex: Int, _ fields: PayloadFields, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard checkKind(.object, object, fieldIndex, in: document, findings: &findings) else { return }
        let normalizer = FieldNormalizer(fields.sorted.span, prefix: "\(name(ofFieldAt: fieldIndex)).")
        normalizer.normalize(object, in: &document, findings: &findings)
    }

    /// Normalizes an object of integers, such as search counts.
    ///
    /// Numbers such as `1.0` are rewritten as integers (case C1), and members that are `null` are removed (case C8).
    /// All other values are faults, including strings (case C19).
    private func normalizeIntegers(
        _ object: JSONNode, _ fieldIndex: Int, in document: inout JSONDocument, findings: inout Findings
    ) {
        guard checkKind(.object, object, fieldIndex, in: document, findings: &findings) else { return }
        var removed: Set<JSONNode> = []
        for position in 0..<document.memberCount(of: object) {
            let member = document.member(at: position, of: object)
            switch document.kind(of: member.value) {
            case .number:
                let outcome = IntegerNormalizer.normalize(member.value, in: &document)
                _ = findings.add(outcome, name: { "\(name(ofFieldAt: fieldIndex)).\(document.string(of: member.key))" })
            case .null:
                findings.note("C8 \(name(ofFieldAt: fieldIndex)).\(document.string(of: member.key)): null removed")
                removed.insert(member.value)
            default: findings.fault("\(name(ofFieldAt: fieldIndex)).\(document.string(of: member.key)) is no integer")
            }
        }
        Self.remove(removed, from: object, of: &document)
    }

    private func normalizeStrings(
        _ object: JSONNode, _ fieldIndex: Int, isNullable: Bool, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard checkKind(.object, object, fieldIndex, in: document, findings: &findings) else { return }
        StringValues.normalize(
            object, in: &document, findings: &findings, isNullable: isNullable,
            noteCode: StringValues.noteCode(forSetting:),
            name: { name(ofFieldAt: fieldIndex) })
    }

    private func checkStringList(
        _ list: JSONNode, _ fieldIndex: Int, isNullable: Bool, in document: JSONDocument, findings: inout Findings
    ) {
        guard checkKind(.array, list, fieldIndex, in: document, findings: &findings) else { return }
        var element = document.firstElement(of: list)
        while let current = element {
            let kind = document.kind(of: current)
            if kind != .string, !(isNullable && kind == .null) {
                return findings.fault("\(name(ofFieldAt: fieldIndex)) has an item that is no string")
            }
            element = document.element(after: current, of: list)
        }
    }
}

// MARK: - Integers and strings in other forms

/// The functions that normalize integers in another form, such as `1.0` or `"1"`.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", cases C1 to C4.
enum IntegerNormalizer {
    /// The result of normalizing a value.
    enum Outcome {
        /// The value is a plain integer.
        case plain
        /// The value was replaced with a plain integer, which requires a note.
        case rewritten(code: String, note: String)
        /// The value is not an integer and was not changed.
        case fault(String)
    }

    /// Replaces `value` with a plain integer if `value` unambiguously represents an integer.
    static func normalize(_ value: JSONNode, in document: inout JSONDocument) -> Outcome {
        switch document.kind(of: value) {
        case .number:
            if JSONNumberText.isPlainInteger(document.bytes(of: value)) { return .plain }
            let text = document.string(of: value)
            guard let integer = JSONNumberText.integer(from: document.bytes(of: value)) else {
                return .fault("\(text) is no integer")
            }
            document.replace(value, withNumber: integer)
            return .rewritten(code: "C1", note: "\(text) written as \(document.string(of: value))")
        case .string:
            let text = document.bytes(of: value).copied()
            guard isPlainDecimal(text.span) else { return .fault("is text and no plain decimal") }
            document.replace(value, withNumber: text)
            return .rewritten(code: "C3", note: "text written as number")
        case .true, .false: return .fault("is a boolean")
        default: return .fault("is no integer")
        }
    }

    /// Returns whether `text` is an integer in JSON syntax.
    private static func isPlainDecimal(_ text: Span<UInt8>) -> Bool {
        let start = !text.isEmpty && text[0] == UInt8(ascii: "-") ? 1 : 0
        guard text.count > start, JSONNumberText.isPlainInteger(text) else { return false }
        return text[start] != UInt8(ascii: "0") || text.count == start + 1
    }
}

extension Findings {
    /// Adds the note or the fault of `outcome`, and returns whether the value is now a plain integer.
    mutating func add(_ outcome: IntegerNormalizer.Outcome, name: () -> String) -> Bool {
        switch outcome {
        case .plain: return true
        case .rewritten(let code, let text):
            note("\(code) \(name()): \(text)")
            return true
        case .fault(let text):
            fault("\(name()) \(text)")
            return false
        }
    }
}

/// The functions that normalize JSON objects whose values must be strings, such as the extras of an event.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", cases E8 to E11.
enum StringValues {
    /// Returns the note code for a setting whose value is not a string.
    static func noteCode(forSetting key: Span<UInt8>) -> String {
        // Firefox 11 wrote window sizes as numbers. An early SDK wrote other settings as numbers and Booleans.
        key.equals("windowWidth") || key.equals("windowHeight") ? "E10" : "E9"
    }

    /// Replaces Booleans and numbers in `object` with strings.
    ///
    /// Each change adds a note with the code that `noteCode` returns for the key. An array or an object adds a fault,
    /// and so does `null` unless `isNullable` is `true`.
    static func normalize(
        _ object: JSONNode, in document: inout JSONDocument, findings: inout Findings, isNullable: Bool,
        noteCode: (Span<UInt8>) -> String, name: () -> String
    ) {
        for position in 0..<document.memberCount(of: object) {
            let member = document.member(at: position, of: object)
            let kind = document.kind(of: member.value)
            if kind == .string {
                if isOptional(document.bytes(of: member.value)) {
                    let key = document.string(of: member.key)
                    findings.note("E11 \(name()).\(key): optional's description kept as stored")
                }
                continue
            }
            if kind == .null, isNullable { continue }
            let path = "\(name()).\(document.string(of: member.key))"
            let code = noteCode(document.bytes(of: member.key))
            switch kind {
            case .true, .false:
                document.replace(member.value, withString: (kind == .true ? "true" : "false").utf8)
                findings.note("\(code) \(path): boolean written as string")
            case .number:
                let text = document.bytes(of: member.value).copied()
                document.replace(member.value, withString: text)
                findings.note("\(code) \(path): number written as string")
            default:
                findings.fault("\(path) is no string")
            }
        }
    }

    /// Returns whether `text` is the Swift description of an optional value, which SDK versions before 1.1.2 wrote.
    private static func isOptional(_ text: Span<UInt8>) -> Bool {
        text.equals("nil") || text.count > 10 && text.extracting(..<9).equals("Optional(")
    }
}
