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
    ///
    /// Fields are passed by their place in the list: a copy of one would cost a reference count for each field of each
    /// ping.
    func normalize(
        _ object: JSONNode, by fields: [Field], in document: inout JSONDocument, findings: inout Findings
    ) {
        var removed: [JSONNode] = []
        var position = 0
        let count = document.count(of: object)
        for index in fields.indices {
            var order = -1
            while position < count {
                let key = document.member(at: position, of: object).key
                order = document.bytes(of: key).ordered(against: fields[index].key)
                if order >= 0 { break }
                position += 1
            }
            if position < count, order == 0 {
                let value = document.member(at: position, of: object).value
                position += 1
                if isRemovableNull(value, fields, index, in: document, findings: &findings) {
                    removed.append(value)
                } else {
                    normalize(value, fields, index, in: &document, findings: &findings)
                }
            } else if fields[index].isRequired {
                findings.fault("\(prefix)\(fields[index].key) missing")
            }
        }
        for value in removed { document.removeMember(withValue: value, from: object) }
    }

    /// Null where the documented form has no null goes [C8]; a required field stays as it is, to be held.
    private func isRemovableNull(
        _ value: JSONNode, _ fields: [Field], _ index: Int, in document: JSONDocument, findings: inout Findings
    ) -> Bool {
        guard document.kind(of: value) == .null, !fields[index].rule.isNullable, !fields[index].isRequired else {
            return false
        }
        findings.note("C8 \(name(fields, index)): null removed")
        return true
    }

    private func name(_ fields: [Field], _ index: Int) -> String { "\(prefix)\(fields[index].key)" }

    private func normalize(
        _ value: JSONNode, _ fields: [Field], _ index: Int, in document: inout JSONDocument, findings: inout Findings
    ) {
        let rule = fields[index].rule
        let name = { self.name(fields, index) }
        if rule.isNullable, document.kind(of: value) == .null { return }
        switch rule {
        case .version(let known): normalizeVersion(value, name, known, in: &document, findings: &findings)
        case .integer(let isNatural, _):
            normalizeInteger(value, name, isNatural: isNatural, in: &document, findings: &findings)
        case .boolean: normalizeBoolean(value, name, in: &document, findings: &findings)
        case .string(let form, _): checkString(value, name, form, in: document, findings: &findings)
        case .integers: normalizeIntegers(value, name, in: &document, findings: &findings)
        case .strings(let nullable):
            normalizeStrings(value, name, nullable: nullable, in: &document, findings: &findings)
        case .stringList(_, let nullable):
            checkStringList(value, name, nullable: nullable, in: document, findings: &findings)
        case .fennec(let group):
            guard isKind(.object, value, name, in: document, findings: &findings) else { return }
            FieldNormalizer(prefix: "\(name()).").normalize(
                value, by: group.fields, in: &document, findings: &findings)
        case .events:
            guard isKind(.array, value, name, in: document, findings: &findings) else { return }
            EventTuples.normalize(value, in: &document, findings: &findings)
        }
    }

    /// Whether the value is of a kind; a fault if not.
    private func isKind(
        _ kind: JSONKind, _ value: JSONNode, _ name: () -> String, in document: JSONDocument, findings: inout Findings
    ) -> Bool {
        if document.kind(of: value) == kind { return true }
        findings.fault("\(name()) is no \(Self.typeName(of: kind))")
        return false
    }

    private static func typeName(of kind: JSONKind) -> String {
        switch kind {
        case .array: "array"
        case .object: "object"
        default: "string"
        }
    }
}

// MARK: - Scalars

extension FieldNormalizer {
    private func normalizeVersion(
        _ value: JSONNode, _ name: () -> String, _ known: ClosedRange<Int>, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard normalizeInteger(value, name, isNatural: false, in: &document, findings: &findings) else { return }
        if let version = Int(document.string(of: value)), known.contains(version) { return }
        findings.fault("\(name()) has no schema")
    }

    /// - Returns: whether the value is now an integer.
    @discardableResult
    private func normalizeInteger(
        _ value: JSONNode, _ name: () -> String, isNatural: Bool, in document: inout JSONDocument,
        findings: inout Findings
    ) -> Bool {
        guard IntegerForm.normalize(value, in: &document, name: name, findings: &findings)
        else { return false }
        if isNatural, JSONNumberText.isNegative(document.bytes(of: value)) {
            findings.fault("\(name()) is negative")
            return false
        }
        return true
    }

    /// A boolean written 0 or 1 is one [C5].
    private func normalizeBoolean(
        _ value: JSONNode, _ name: () -> String, in document: inout JSONDocument, findings: inout Findings
    ) {
        switch document.kind(of: value) {
        case .true, .false: return
        case .number where document.bytes(of: value).equals("0") || document.bytes(of: value).equals("1"):
            let isOne = document.bytes(of: value).equals("1")
            document.replace(value, with: isOne)
            findings.note("C5 \(name()): \(isOne ? 1 : 0) written as \(isOne)")
        default: findings.fault("\(name()) is no boolean")
        }
    }

    private func checkString(
        _ value: JSONNode, _ name: () -> String, _ form: StringForm, in document: JSONDocument,
        findings: inout Findings
    ) {
        guard isKind(.string, value, name, in: document, findings: &findings) else { return }
        if !form.matches(document.bytes(of: value)) {
            findings.fault("\(name()) is not \(form.name)")
        }
    }
}

// MARK: - Collections

extension FieldNormalizer {
    /// Search counts: their values may be written with a point [C1], but not as text [C19].
    private func normalizeIntegers(
        _ object: JSONNode, _ name: () -> String, in document: inout JSONDocument, findings: inout Findings
    ) {
        guard isKind(.object, object, name, in: document, findings: &findings) else { return }
        var removed: [JSONNode] = []
        for position in 0..<document.count(of: object) {
            let member = document.member(at: position, of: object)
            func memberName() -> String { "\(name()).\(document.string(of: member.key))" }
            switch document.kind(of: member.value) {
            case .number:
                let path = document.isPlainInteger(member.value) ? "" : memberName()
                IntegerForm.normalize(member.value, in: &document, name: { path }, findings: &findings)
            case .null:
                findings.note("C8 \(memberName()): null removed")
                removed.append(member.value)
            default: findings.fault("\(memberName()) is no integer")
            }
        }
        for value in removed { document.removeMember(withValue: value, from: object) }
    }

    private func normalizeStrings(
        _ object: JSONNode, _ name: () -> String, nullable: Bool, in document: inout JSONDocument,
        findings: inout Findings
    ) {
        guard isKind(.object, object, name, in: document, findings: &findings) else { return }
        TextValues(name: name(), code: TextValues.codeOfSetting, isNullable: nullable).normalize(
            object, in: &document, findings: &findings)
    }

    private func checkStringList(
        _ list: JSONNode, _ name: () -> String, nullable: Bool, in document: JSONDocument, findings: inout Findings
    ) {
        guard isKind(.array, list, name, in: document, findings: &findings) else { return }
        var element = document.firstElement(of: list)
        while let current = element {
            let kind = document.kind(of: current)
            if kind != .string, !(nullable && kind == .null) {
                return findings.fault("\(name()) has an item that is no string")
            }
            element = document.element(after: current, of: list)
        }
    }
}
