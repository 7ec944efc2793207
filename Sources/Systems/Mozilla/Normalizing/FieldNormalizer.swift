import JSONText
import Telemetry

/// Normalizes the documented fields of a JSON object, and adds a fault for each invalid field.
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
        var removed: [JSONNode] = []
        var field = 0
        for position in 0..<document.memberCount(of: object) {
            let member = document.member(at: position, of: object)
            guard let found = fieldIndex(of: member.key, from: &field, in: document, findings: &findings),
                fields[found].presence != .added
            else { continue }
            if isRemovableNull(member.value, found, in: document) {
                findings.note("C8 \(name(found)): null removed")
                removed.append(member.value)
            } else {
                normalize(member.value, found, fields[found].form, in: &document, findings: &findings)
            }
        }
        while field < fields.count {
            addFaultIfRequired(field, findings: &findings)
            field += 1
        }
        for value in removed { document.removeMember(withValue: value, from: object) }
    }

    /// Returns the index of the field for `key`, or `nil` if the field is not documented.
    ///
    /// Advances `field` beyond the key, and adds a fault for each skipped field that is required.
    private func fieldIndex(
        of key: JSONNode, from field: inout Int, in document: JSONDocument, findings: inout Findings
    ) -> Int? {
        let start = KeyPrefix(document.bytes(of: key))
        while field < fields.count {
            let order =
                start.ordered(against: fields[field].key.start)
                ?? document.bytes(of: key).ordered(against: fields[field].key)
            if order < 0 { return nil }
            field += 1
            if order == 0 { return field - 1 }
            addFaultIfRequired(field - 1, findings: &findings)
        }
        return nil
    }

    private func addFaultIfRequired(_ field: Int, findings: inout Findings) {
        if fields[field].presence == .required { findings.fault("\(name(field)) missing") }
    }

    private func name(_ field: Int) -> String { "\(prefix)\(fields[field].key)" }

    /// Returns whether a value is an invalid `null` that can be removed because the field is optional (case C8).
    private func isRemovableNull(_ value: JSONNode, _ field: Int, in document: JSONDocument) -> Bool {
        document.kind(of: value) == .null && !fields[field].form.isNullable && fields[field].presence != .required
    }

    private func normalize(
        _ value: JSONNode, _ field: Int, _ form: PayloadForm, in document: inout JSONDocument, findings: inout Findings
    ) {
        switch form {
        case .version(let known): normalizeVersion(value, field, known, in: &document, findings: &findings)
        case .integer(let least):
            _ = normalizeInteger(value, field, isNatural: least == 0, in: &document, findings: &findings)
        case .boolean: normalizeBoolean(value, field, in: &document, findings: &findings)
        case .string(let form): checkString(value, field, form, in: document, findings: &findings)
        case .orNull(let form):
            guard document.kind(of: value) != .null else { return }
            normalize(value, field, form, in: &document, findings: &findings)
        case .map(_, .integer): normalizeIntegers(value, field, in: &document, findings: &findings)
        case .map(_, let form):
            normalizeStrings(value, field, nullable: form.isNullable, in: &document, findings: &findings)
        case .list(.structure):
            guard checkKind(.array, value, field, in: document, findings: &findings) else { return }
            EventTuples.normalize(value, in: &document, findings: &findings)
        case .list(let form):
            checkStringList(value, field, nullable: form.isNullable, in: document, findings: &findings)
        case .object(let fields), .open(let fields):
            normalizeGroup(value, field, fields, in: &document, findings: &findings)
        case .any, .number, .structure: return
        }
    }

    /// Returns whether a value is of the kind `kind`, and adds a fault if it is not.
    private func checkKind(
        _ kind: JSONKind, _ value: JSONNode, _ field: Int, in document: JSONDocument, findings: inout Findings
    ) -> Bool {
        if document.kind(of: value) == kind { return true }
        findings.fault("\(name(field)) is no \(kind == .string ? "string" : kind == .array ? "array" : "object")")
        return false
    }
}

// MARK: - Scalars

extension FieldNormalizer {
    private func normalizeVersion(
        _ value: JSONNode, _ field: Int, _ known: ClosedRange<Int>, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard normalizeInteger(value, field, isNatural: false, in: &document, findings: &findings) else { return }
        if let version = Int64(decimal: document.bytes(of: value)), known.contains(Int(version)) { return }
        findings.fault("\(name(field)) has no schema")
    }

    /// Normalizes an integer, and returns whether the schema allows the result.
    private func normalizeInteger(
        _ value: JSONNode, _ field: Int, isNatural: Bool, in document: inout JSONDocument, findings: inout Findings
    ) -> Bool {
        let outcome = IntegerForm.normalize(value, in: &document)
        guard findings.add(outcome, name: { name(field) }) else { return false }
        if isNatural, JSONNumberText.isNegative(document.bytes(of: value)) {
            findings.fault("\(name(field)) is negative")
            return false
        }
        return true
    }

    /// Replaces 0 with `false` and 1 with `true` (case C5).
    private func normalizeBoolean(
        _ value: JSONNode, _ field: Int, in document: inout JSONDocument, findings: inout Findings
    ) {
        switch document.kind(of: value) {
        case .true, .false: return
        case .number where document.bytes(of: value).equals("0") || document.bytes(of: value).equals("1"):
            let isOne = document.bytes(of: value).equals("1")
            document.replace(value, with: isOne)
            findings.note("C5 \(name(field)): \(isOne ? 1 : 0) written as \(isOne)")
        default: findings.fault("\(name(field)) is no boolean")
        }
    }

    private func checkString(
        _ value: JSONNode, _ field: Int, _ form: StringForm, in document: JSONDocument, findings: inout Findings
    ) {
        guard checkKind(.string, value, field, in: document, findings: &findings) else { return }
        switch form {
        case .any, .atMost: return
        case .uuid: if !document.bytes(of: value).isUUID { findings.fault("\(name(field)) is not a UUID") }
        case .named(let form, let matches):
            if !matches(document.bytes(of: value)) { findings.fault("\(name(field)) is not a \(form)") }
        }
    }
}

// MARK: - Collections

extension FieldNormalizer {
    private func normalizeGroup(
        _ object: JSONNode, _ field: Int, _ fields: PayloadFields, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard checkKind(.object, object, field, in: document, findings: &findings) else { return }
        let normalizer = FieldNormalizer(fields.sorted.span, prefix: "\(name(field)).")
        normalizer.normalize(object, in: &document, findings: &findings)
    }

    /// Normalizes an object of integers, such as search counts.
    ///
    /// Numbers with a decimal point are converted (case C1). Strings are faults (case C19).
    private func normalizeIntegers(
        _ object: JSONNode, _ field: Int, in document: inout JSONDocument, findings: inout Findings
    ) {
        guard checkKind(.object, object, field, in: document, findings: &findings) else { return }
        var removed: [JSONNode] = []
        for position in 0..<document.memberCount(of: object) {
            let member = document.member(at: position, of: object)
            switch document.kind(of: member.value) {
            case .number:
                let outcome = IntegerForm.normalize(member.value, in: &document)
                _ = findings.add(outcome, name: { "\(name(field)).\(document.string(of: member.key))" })
            case .null:
                findings.note("C8 \(name(field)).\(document.string(of: member.key)): null removed")
                removed.append(member.value)
            default: findings.fault("\(name(field)).\(document.string(of: member.key)) is no integer")
            }
        }
        for value in removed { document.removeMember(withValue: value, from: object) }
    }

    private func normalizeStrings(
        _ object: JSONNode, _ field: Int, nullable: Bool, in document: inout JSONDocument, findings: inout Findings
    ) {
        guard checkKind(.object, object, field, in: document, findings: &findings) else { return }
        StringValues.normalize(
            object, in: &document, findings: &findings, isNullable: nullable, code: StringValues.noteCode(forSetting:),
            name: { name(field) })
    }

    private func checkStringList(
        _ list: JSONNode, _ field: Int, nullable: Bool, in document: JSONDocument, findings: inout Findings
    ) {
        guard checkKind(.array, list, field, in: document, findings: &findings) else { return }
        var element = document.firstElement(of: list)
        while let current = element {
            let kind = document.kind(of: current)
            if kind != .string, !(nullable && kind == .null) {
                return findings.fault("\(name(field)) has an item that is no string")
            }
            element = document.element(after: current, of: list)
        }
    }
}
