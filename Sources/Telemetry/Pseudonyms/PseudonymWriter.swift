import JSONText

/// A writer of payloads that contain only permitted values and pseudonyms.
///
/// The depth of the recursion is limited by the rules, not by the values.
struct PseudonymWriter: Sendable {
    var maker: PseudonymMaker
    /// The unit to which times are rounded down, or `nil` if they are kept.
    let timeUnit: TimeUnit?
    /// The counts of the values that were omitted since this property was last reset.
    var counts = PseudonymCounts()
    private var output = TextBuffer()
    private var document = JSONDocument()

    private static let null: ConstantText = "null"
    /// The policy for parsing payloads.
    ///
    /// Its default depth limit of 512 levels is also the limit for the payload of a record.
    private static let policy = JSONReadingPolicy(unpairedSurrogates: .keep, valueLimit: .fixed)

    init(_ maker: PseudonymMaker, timeUnit: TimeUnit? = nil) {
        self.maker = maker
        self.timeUnit = timeUnit
    }

    /// Returns the payload, rewritten according to the rules in `table`.
    ///
    /// Returns an empty object if the payload is not an object.
    mutating func rewritten(_ payload: [UInt8], by table: PseudonymTable) -> [UInt8] {
        defer { document.reset() }
        guard (try? document.read(payload, policy: Self.policy)) != nil, document.kind(of: document.root) == .object
        else {
            counts.malformed += 1
            return Array("{}".utf8)
        }
        output.removeAll()
        writeObject(document.root, table, of: document)
        return output.bytes
    }

    /// Writes a value according to its rule.
    ///
    /// Returns `false` if the value is omitted.
    private mutating func write(_ value: JSONNode, _ rule: PseudonymRule, of document: JSONDocument) -> Bool {
        let kind = document.kind(of: value)
        if case .drop = rule {
            counts.dropped += 1
            return false
        }
        if kind == .null { return writeScalar(value, kind, of: document) }
        switch rule {
        case .drop: return false
        case .keep(let form, let substitute):
            if form.matches(value, of: document) { return writeScalar(value, kind, of: document) }
            return write(substitute, insteadOf: value, kind, of: document)
        case .time(let form, let substitute):
            if writeTime(value, form, kind, of: document) { return true }
            return write(substitute, insteadOf: value, kind, of: document)
        case .pseudonym(let name): return writePseudonym(of: value, kind, name, of: document)
        case .object(let table): return kind == .object ? writeObject(value, table, of: document) : omit()
        case .list(let rule): return kind == .array ? writeList(value, rule, of: document) : omit()
        case .tuple(let rules): return kind == .array ? writeTuple(value, rules, of: document) : omit()
        case .map(let keys, let rule): return kind == .object ? writeMap(value, keys, rule, of: document) : omit()
        case .json(let rule): return kind == .string ? writeNested(value, rule, of: document) : omit()
        }
    }

    private mutating func omit() -> Bool {
        counts.malformed += 1
        return false
    }

    // MARK: Scalars

    private mutating func writeScalar(_ value: JSONNode, _ kind: JSONKind, of document: JSONDocument) -> Bool {
        switch kind {
        case .null: output.append(Self.null)
        case .true: output.append(copying: "true".utf8.span)
        case .false: output.append(copying: "false".utf8.span)
        case .number: output.append(copying: document.bytes(of: value))
        case .string: output.append(jsonString: document.bytes(of: value))
        case .array, .object, .removed: return omit()
        }
        return true
    }

    /// Writes a time, rounded down to ``timeUnit``.
    ///
    /// Returns `false` if the value does not have the given form.
    private mutating func writeTime(
        _ value: JSONNode, _ form: TimeForm, _ kind: JSONKind, of document: JSONDocument
    ) -> Bool {
        guard form.keptForm.matches(value, of: document) else { return false }
        guard let timeUnit else { return writeScalar(value, kind, of: document) }
        guard let rounded = form.rounded(document.bytes(of: value), to: timeUnit, in: document) else { return false }
        if kind == .string { output.append(jsonString: rounded.span) } else { output.append(copying: rounded.span) }
        return true
    }

    private mutating func writePseudonym(
        of value: JSONNode, _ kind: JSONKind, _ name: PseudonymClass, of document: JSONDocument
    ) -> Bool {
        guard kind == .string else { return omit() }
        output.append(jsonString: maker.pseudonym(of: document.bytes(of: value), name).span)
        return true
    }

    private mutating func write(
        _ substitute: PseudonymRule.Substitute, insteadOf value: JSONNode, _ kind: JSONKind, of document: JSONDocument
    ) -> Bool {
        switch substitute {
        case .nothing: return omit()
        case .text(let text):
            // A value that is not a string makes the record invalid, so replacing the value would be useless.
            guard kind == .string else { return omit() }
            if !document.bytes(of: value).equals(text) { counts.malformed += 1 }
            output.append(jsonString: text.utf8.span)
            return true
        case .pseudonym(let name): return writePseudonym(of: value, kind, name, of: document)
        }
    }

    // MARK: Containers

    /// Writes an object in one pass, because both the members and the rules are in canonical order.
    @discardableResult
    private mutating func writeObject(_ object: JSONNode, _ table: PseudonymTable, of document: JSONDocument) -> Bool {
        output.append(UInt8(ascii: "{"))
        let start = output.count
        var field = 0
        for member in document.members(of: object) {
            guard let rule = rule(of: member.key, in: table, from: &field, of: document) else {
                counts.unnamed += 1
                continue
            }
            let place = output.count
            if place > start { output.append(UInt8(ascii: ",")) }
            output.append(jsonString: document.bytes(of: member.key))
            output.append(UInt8(ascii: ":"))
            if !write(member.value, rule, of: document) { output.removeAll(from: place) }
        }
        output.append(UInt8(ascii: "}"))
        return true
    }

    /// Returns the rule for `key`, or `nil` if `table` contains none.
    ///
    /// The index `field` is advanced past the rules for all keys up to `key`.
    private func rule(
        of key: JSONNode, in table: PseudonymTable, from field: inout Int, of document: JSONDocument
    ) -> PseudonymRule? {
        while field < table.fields.count {
            let order = document.bytes(of: key).ordered(against: table.fields[field].key)
            if order < 0 { return nil }
            field += 1
            if order == 0 { return table.fields[field - 1].rule }
        }
        return nil
    }

    private mutating func writeList(_ list: JSONNode, _ rule: PseudonymRule, of document: JSONDocument) -> Bool {
        output.append(UInt8(ascii: "["))
        let start = output.count
        var element = document.firstElement(of: list)
        while let current = element {
            let place = output.count
            if place > start { output.append(UInt8(ascii: ",")) }
            if !write(current, rule, of: document) { output.removeAll(from: place) }
            element = document.element(after: current, of: list)
        }
        output.append(UInt8(ascii: "]"))
        return true
    }

    private mutating func writeTuple(_ tuple: JSONNode, _ rules: [PseudonymRule], of document: JSONDocument) -> Bool {
        output.append(UInt8(ascii: "["))
        // The end of the last kept element. Trailing `null` placeholders are removed.
        var end = output.count
        var element = document.firstElement(of: tuple)
        var position = 0
        while let current = element {
            if position < rules.count {
                if position > 0 { output.append(UInt8(ascii: ",")) }
                if write(current, rules[position], of: document) {
                    end = output.count
                } else {
                    output.append(Self.null)
                }
            } else {
                counts.unnamed += 1
            }
            position += 1
            element = document.element(after: current, of: tuple)
        }
        output.removeAll(from: end)
        output.append(UInt8(ascii: "]"))
        return true
    }

    private mutating func writeMap(
        _ map: JSONNode, _ keys: PseudonymRule.KeyRule, _ rule: PseudonymRule, of document: JSONDocument
    ) -> Bool {
        // The members are collected first, because replacing keys by pseudonyms changes their order.
        var members: [(key: [UInt8], member: JSONMember)] = []
        for member in document.members(of: map) {
            if let key = key(document.bytes(of: member.key), keys) {
                members.append((key, member))
            } else {
                counts.unnamed += 1
            }
        }
        if case .dottedKey = keys { members.sort { $0.key.lexicographicallyPrecedes($1.key) } }
        output.append(UInt8(ascii: "{"))
        let start = output.count
        var last: [UInt8]?
        for (key, member) in members {
            // Two keys can become equal, because the uppercase and lowercase forms of a UUID have the same pseudonym.
            guard key != last else {
                counts.malformed += 1
                continue
            }
            let place = output.count
            if place > start { output.append(UInt8(ascii: ",")) }
            output.append(jsonString: key.span)
            output.append(UInt8(ascii: ":"))
            if write(member.value, rule, of: document) { last = key } else { output.removeAll(from: place) }
        }
        output.append(UInt8(ascii: "}"))
        return true
    }

    /// Returns the replacement for a key, or `nil` if the member is omitted.
    private mutating func key(_ key: Span<UInt8>, _ rule: PseudonymRule.KeyRule) -> [UInt8]? {
        switch rule {
        case .form(let form): return form.matches(key) ? key.copied() : nil
        case .dottedKey(let words, let known, let name):
            guard let point = key.indices.first(where: { key[$0] == UInt8(ascii: ".") }),
                words.contains(String(readingUTF8: key.extracting(..<point)))
            else { return nil }
            let rest = key.extracting((point + 1)...)
            if known.contains(String(readingUTF8: rest)) { return key.copied() }
            return key.extracting(...point).copied() + maker.pseudonym(of: rest, name)
        }
    }

    /// Writes a string of JSON that contains only the permitted parts of the JSON in `text`.
    private mutating func writeNested(_ text: JSONNode, _ rule: PseudonymRule, of document: JSONDocument) -> Bool {
        guard !document.bytes(of: text).isEmpty else { return writeScalar(text, .string, of: document) }
        var nested = JSONDocument()
        guard nested.read(stringAt: text, of: document) else { return omit() }
        var outer = TextBuffer()
        swap(&outer, &output)
        let isWritten = write(nested.root, rule, of: nested)
        swap(&outer, &output)
        if isWritten { output.append(jsonString: outer.bytes.span) }
        return isWritten
    }
}
