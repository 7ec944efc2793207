import JSONText

/// Brings the documented fields of an object into their documented form, where that is unambiguous, and finds what is
/// not in it.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", sections 5.3 and 6.4: a value is kept
/// unless the documented form is unambiguous from it, and every change leaves a note with the case id.
struct FieldNormalizer {
    /// What stands in front of a field's name in notes: empty, or the path of the object and a dot.
    var prefix = ""

    /// Checks the members of an object against fields, both in canonical order.
    func normalize(
        _ object: JSONNode, by fields: [Field], in document: inout JSONDocument, findings: inout Findings
    ) {
        var removed: [JSONNode] = []
        var position = 0
        let count = document.count(of: object)
        for field in fields {
            var order = -1
            while position < count {
                let member = document.member(at: position, of: object)
                order = document.bytes(of: member.key).ordered(against: field.key.utf8.span)
                if order >= 0 { break }
                position += 1
            }
            if position < count, order == 0 {
                let value = document.member(at: position, of: object).value
                position += 1
                if isRemovableNull(value, field, in: document, findings: &findings) {
                    removed.append(value)
                } else {
                    normalize(value, field, in: &document, findings: &findings)
                }
            } else if field.isRequired {
                findings.fault("\(prefix)\(field.key) missing")
            }
        }
        for value in removed { document.removeMember(withValue: value, from: object) }
    }

    /// Null where the documented form has no null goes [C8]; a required field stays as it is, to be held.
    private func isRemovableNull(
        _ value: JSONNode, _ field: Field, in document: JSONDocument, findings: inout Findings
    ) -> Bool {
        guard document.kind(of: value) == .null, !field.rule.isNullable, !field.isRequired else { return false }
        findings.note("C8 \(prefix)\(field.key): null removed")
        return true
    }

    private func normalize(
        _ value: JSONNode, _ field: Field, in document: inout JSONDocument, findings: inout Findings
    ) {
        if field.rule.isNullable, document.kind(of: value) == .null { return }
        switch field.rule {
        case .version(let known): normalizeVersion(value, field, known, in: &document, findings: &findings)
        case .integer(let isNatural, _):
            normalizeInteger(value, field, isNatural: isNatural, in: &document, findings: &findings)
        case .boolean: normalizeBoolean(value, field, in: &document, findings: &findings)
        case .string(let form, _): checkString(value, field, form, in: document, findings: &findings)
        case .integers: normalizeIntegers(value, field, in: &document, findings: &findings)
        case .strings(let nullable):
            normalizeStrings(value, field, nullable: nullable, in: &document, findings: &findings)
        case .stringList(_, let nullable):
            checkStringList(value, field, nullable: nullable, in: document, findings: &findings)
        case .object(let fields):
            guard isKind(.object, value, field, in: document, findings: &findings) else { return }
            FieldNormalizer(prefix: "\(prefix)\(field.key).").normalize(
                value, by: fields, in: &document, findings: &findings)
        case .events:
            guard isKind(.array, value, field, in: document, findings: &findings) else { return }
            EventTuples.normalize(value, in: &document, findings: &findings)
        }
    }

    /// Whether the value is of a kind; a fault if not.
    private func isKind(
        _ kind: JSONKind, _ value: JSONNode, _ field: Field, in document: JSONDocument, findings: inout Findings
    ) -> Bool {
        if document.kind(of: value) == kind { return true }
        findings.fault("\(prefix)\(field.key) is no \(field.rule.typeName)")
        return false
    }
}

// MARK: - Scalars

extension FieldNormalizer {
    private func normalizeVersion(
        _ value: JSONNode, _ field: Field, _ known: ClosedRange<Int>, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard normalizeInteger(value, field, isNatural: false, in: &document, findings: &findings) else { return }
        if let version = Int(document.string(of: value)), known.contains(version) { return }
        findings.fault("\(prefix)\(field.key) has no schema")
    }

    /// - Returns: whether the value is now an integer.
    @discardableResult
    private func normalizeInteger(
        _ value: JSONNode, _ field: Field, isNatural: Bool, in document: inout JSONDocument,
        findings: inout Findings
    ) -> Bool {
        guard IntegerForm.normalize(value, in: &document, name: { "\(prefix)\(field.key)" }, findings: &findings)
        else { return false }
        if isNatural, JSONNumberText.isNegative(document.bytes(of: value)) {
            findings.fault("\(prefix)\(field.key) is negative")
            return false
        }
        return true
    }

    /// A boolean written 0 or 1 is one [C5].
    private func normalizeBoolean(
        _ value: JSONNode, _ field: Field, in document: inout JSONDocument, findings: inout Findings
    ) {
        switch document.kind(of: value) {
        case .true, .false: return
        case .number where document.bytes(of: value).equals("0") || document.bytes(of: value).equals("1"):
            let isOne = document.bytes(of: value).equals("1")
            document.replace(value, with: isOne)
            findings.note("C5 \(prefix)\(field.key): \(isOne ? 1 : 0) written as \(isOne)")
        default: findings.fault("\(prefix)\(field.key) is no boolean")
        }
    }

    private func checkString(
        _ value: JSONNode, _ field: Field, _ form: StringForm, in document: JSONDocument,
        findings: inout Findings
    ) {
        guard isKind(.string, value, field, in: document, findings: &findings) else { return }
        if !form.matches(document.bytes(of: value)) {
            findings.fault("\(prefix)\(field.key) is not \(form.name)")
        }
    }
}

// MARK: - Collections

extension FieldNormalizer {
    /// Search counts: their values may be written with a point [C1], but not as text [C19].
    private func normalizeIntegers(
        _ object: JSONNode, _ field: Field, in document: inout JSONDocument, findings: inout Findings
    ) {
        guard isKind(.object, object, field, in: document, findings: &findings) else { return }
        var removed: [JSONNode] = []
        for position in 0..<document.count(of: object) {
            let member = document.member(at: position, of: object)
            func name() -> String { "\(prefix)\(field.key).\(document.string(of: member.key))" }
            switch document.kind(of: member.value) {
            case .number:
                let path = document.isPlainInteger(member.value) ? "" : name()
                IntegerForm.normalize(member.value, in: &document, name: { path }, findings: &findings)
            case .null:
                findings.note("C8 \(name()): null removed")
                removed.append(member.value)
            default: findings.fault("\(name()) is no integer")
            }
        }
        for value in removed { document.removeMember(withValue: value, from: object) }
    }

    private func normalizeStrings(
        _ object: JSONNode, _ field: Field, nullable: Bool, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard isKind(.object, object, field, in: document, findings: &findings) else { return }
        TextValues(name: "\(prefix)\(field.key)", code: TextValues.codeOfSetting, isNullable: nullable).normalize(
            object, in: &document, findings: &findings)
    }

    private func checkStringList(
        _ list: JSONNode, _ field: Field, nullable: Bool, in document: JSONDocument, findings: inout Findings
    ) {
        guard isKind(.array, list, field, in: document, findings: &findings) else { return }
        var element = document.firstElement(of: list)
        while let current = element {
            let kind = document.kind(of: current)
            if kind != .string, !(nullable && kind == .null) {
                return findings.fault("\(prefix)\(field.key) has an item that is no string")
            }
            element = document.element(after: current, of: list)
        }
    }
}
