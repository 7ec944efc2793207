import Bytes
import JSONText

/// A comparison of a value with its documented form.
///
/// The path to a value is built only when a fault or an unknown key is reported.
package struct PayloadCheck {
    /// The wording of faults.
    ///
    /// A system must not change its wording, because records contain the faults.
    package enum Wording {
        /// A path, a colon and the fault, such as `client_info.os: no string`.
        case terse
        /// A sentence, such as `os is no string`. The check of a list or a map stops at the first invalid element or
        /// value. Before that, each invalid key of a map is a separate fault.
        case sentence
    }

    private enum Step {
        case key(JSONNode)
        case element(Int)
    }

    /// The findings of this check, added to the findings that existed before it.
    package private(set) var findings: Findings
    /// The paths of the first unknown keys.
    package private(set) var unknownKeys: [String] = []
    /// The total number of unknown keys.
    package private(set) var unknownCount = 0
    private let document: JSONDocument
    private let wording: Wording
    private let root: String
    private var path: [Step] = []
    /// The description of the last fault, without its path.
    private var lastFault = ""

    // The length of a key is limited because a forged key can be megabytes long.
    private static let (maximumNamedKeys, maximumKeyLength) = (8, 111)

    /// Creates a check that adds to `findings`.
    ///
    /// The paths in faults start with `root`.
    package init(_ document: JSONDocument, _ wording: Wording, root: String = "", findings: Findings = Findings()) {
        self.document = document
        self.wording = wording
        self.root = root
        self.findings = findings
    }

    /// Checks whether `node` has the given form, and adds its faults to ``findings``.
    package mutating func check(_ node: JSONNode, _ form: PayloadForm) {
        // Further faults would not be kept.
        guard findings.faults.count < Findings.maximumFaultCount else { return }
        let kind = document.kind(of: node)
        switch form {
        case .any: return
        case .boolean: expect(kind == .true || kind == .false, "no boolean")
        case .integer(let least): checkInteger(node, kind, least)
        case .version(let known):
            let version = kind == .number ? Int(document.string(of: node)) : nil
            expect(version.map(known.contains) ?? false, "no known version")
        case .number(let form):
            expect(kind == .number && form.matches(document.bytes(of: node)), "no \(form.name)")
        case .string(let form): checkString(node, kind, form)
        case .list(let form): checkList(node, kind, form)
        case .structure: expect(kind == .object || kind == .array, "neither object nor array")
        case .object(let fields): checkObject(node, kind, fields, isClosed: true)
        case .open(let fields): checkObject(node, kind, fields, isClosed: false)
        case .map(let keys, let form): checkMap(node, kind, keys, form)
        case .orNull(let form): if kind != .null { check(node, form) }
        }
    }

    private mutating func expect(_ isGood: Bool, _ fault: @autoclosure () -> String) {
        guard !isGood else { return }
        lastFault = fault()
        switch wording {
        case .terse: findings.fault("\(pathDescription): \(lastFault)")
        case .sentence: findings.fault("\(pathDescription) is \(lastFault)")
        }
    }
}

extension Findings {
    /// Checks an object and adds its faults as sentences.
    package mutating func check(
        _ object: JSONNode, _ fields: PayloadFields, at path: String = "", in document: JSONDocument
    ) {
        var check = PayloadCheck(document, .sentence, root: path, findings: self)
        check.check(object, .object(fields))
        self = check.findings
    }
}

// MARK: - Scalars

extension PayloadCheck {
    private mutating func checkInteger(_ node: JSONNode, _ kind: JSONKind, _ least: Int?) {
        guard kind == .number, JSONNumberText.isPlainInteger(document.bytes(of: node)) else {
            return expect(false, "no integer")
        }
        guard let least else { return }
        let text = document.string(of: node)
        // An integer that does not fit into 64 bits is below the minimum if it is negative.
        expect(Int(text).map { $0 >= least } ?? !text.hasPrefix("-"), "less than \(least)")
    }

    private mutating func checkString(_ node: JSONNode, _ kind: JSONKind, _ form: StringForm) {
        switch form {
        case .any: expect(kind == .string, "no string")
        case .uuid: expect(kind == .string && document.bytes(of: node).isUUID, "no UUID")
        case .atMost(let most):
            guard kind == .string else { return expect(false, "no string") }
            expect(document.bytes(of: node).hasCharacters(atMost: most), "more than \(most) characters")
        case .named(let name, let matches): expect(kind == .string && matches(document.bytes(of: node)), "no \(name)")
        }
    }
}

// MARK: - Collections

extension PayloadCheck {
    private mutating func checkList(_ node: JSONNode, _ kind: JSONKind, _ form: PayloadForm) {
        guard kind == .array else { return expect(false, "no array") }
        var element = document.firstElement(of: node)
        var index = 0
        while let current = element {
            guard checkItem(current, form, at: .element(index), "an item") else { return }
            element = document.element(after: current, of: node)
            index += 1
        }
    }

    /// Checks the members of an object in one pass, because both the members and the fields are in canonical order.
    private mutating func checkObject(_ node: JSONNode, _ kind: JSONKind, _ fields: PayloadFields, isClosed: Bool) {
        guard kind == .object else { return expect(false, "no object") }
        var left = fields.sorted[...]
        for member in document.members(of: node) {
            while let field = left.first, document.bytes(of: member.key).ordered(against: field.key) > 0 {
                reportMissing(field)
                left.removeFirst()
            }
            if let field = left.first, document.bytes(of: member.key).equals(field.key.utf8.span) {
                left.removeFirst()
                if field.presence != .added {
                    check(member.value, field.form, at: .key(member.key))
                    continue
                }
            }
            if isClosed { noteUnknown(member.key) }
        }
        for field in left { reportMissing(field) }
    }

    private mutating func reportMissing(_ field: PayloadField) {
        guard field.presence == .required else { return }
        let path = pathDescription
        findings.fault("\(path.isEmpty ? "" : path + ".")\(field.key) missing")
    }

    private mutating func checkMap(_ node: JSONNode, _ kind: JSONKind, _ keys: KeyForm, _ form: PayloadForm) {
        guard kind == .object else { return expect(false, "no object") }
        for position in 0..<document.memberCount(of: node) {
            guard findings.faults.count < Findings.maximumFaultCount else { return }
            let member = document.member(at: position, of: node)
            let isGood = keys.matches(document.bytes(of: member.key))
            path.append(.key(member.key))
            expect(isGood, "not the name of \(keys.subject)")
            path.removeLast()
            guard !isGood || checkItem(member.value, form, at: .key(member.key), "a value") else { return }
        }
    }

    /// Checks an element of an array or a member of an object.
    ///
    /// Returns `false` if the remaining values do not need to be checked.
    private mutating func checkItem(_ value: JSONNode, _ form: PayloadForm, at step: Step, _ name: String) -> Bool {
        let before = findings.faults.count
        check(value, form, at: step)
        guard wording == .sentence, findings.faults.count > before else { return true }
        findings.faults.removeLast(findings.faults.count - before)
        findings.fault("\(pathDescription) has \(name) that is \(lastFault)")
        return false
    }

    private mutating func check(_ value: JSONNode, _ form: PayloadForm, at step: Step) {
        path.append(step)
        check(value, form)
        path.removeLast()
    }

    private mutating func noteUnknown(_ key: JSONNode) {
        unknownCount += 1
        guard unknownKeys.count < Self.maximumNamedKeys else { return }
        path.append(.key(key))
        unknownKeys.append(pathDescription)
        path.removeLast()
    }

    /// The path of the current value, such as `metrics.counter.a_b` or `events[3].name`.
    private var pathDescription: String {
        path.reduce(into: root) { text, step in
            switch step {
            case .key(let key):
                if !text.isEmpty { text += "." }
                text += document.string(of: key).prefix(Self.maximumKeyLength)
            case .element(let index): text += "[\(index)]"
            }
        }
    }
}

extension Span<UInt8> {
    /// Returns whether the UTF-8 bytes contain at most `most` Unicode scalars.
    func hasCharacters(atMost most: Int) -> Bool {
        guard count > most else { return true }
        var found = 0
        for index in indices where self[index] & 0xC0 != 0x80 { found += 1 }
        return found <= most
    }
}

// MARK: - Findings

/// The notes and faults that are found in a payload.
///
/// The number of notes is limited, because a payload can have any number of members that are changed in the same way.
/// The notes beyond the limit are counted by their case ids.
package struct Findings {
    /// The first notes, at most ``maximumNoteCount``.
    private var firstNotes: [String] = []
    /// The numbers of further notes with their case ids, in the order of the first occurrence of each case id.
    private var furtherNotes: [(caseID: CapturedText, count: Int)] = []
    /// The first reasons why the payload does not have the documented form, at most ``maximumFaultCount``.
    package var faults: [String] = []

    /// The maximum number of faults that are kept.
    package static let maximumFaultCount = 8
    /// The maximum number of notes that are kept in full.
    package static let maximumNoteCount = 100
    /// The maximum number of case ids by which further notes are counted.
    ///
    /// No system has more case ids.
    private static let maximumCaseCount = 64

    package init() {}

    /// The notes on changes and unexpected values.
    ///
    /// Each note consists of a case id, a space and free text. If there are too many notes, the last ones state the
    /// number of further notes with each case id, such as `C8 59900 more notes`.
    package var notes: [String] { firstNotes + furtherNotes.map { "\($0.caseID) \($0.count) more notes" } }

    package mutating func note(_ text: String) {
        guard firstNotes.count >= Self.maximumNoteCount else { return firstNotes.append(text) }
        let caseID = CapturedText(decoding: text.utf8.prefix { !$0.isOne(of: " :@") })
        if let known = furtherNotes.firstIndex(where: { $0.caseID == caseID }) {
            furtherNotes[known].count += 1
        } else if furtherNotes.count < Self.maximumCaseCount {
            furtherNotes.append((caseID, 1))
        } else {
            furtherNotes[furtherNotes.count - 1].count += 1
        }
    }

    package mutating func fault(_ text: String) {
        if faults.count < Self.maximumFaultCount { faults.append(text) }
    }

    /// The hold for a payload with faults, or `nil` if there are no faults.
    package var hold: Hold? { faults.isEmpty ? nil : .schema(faults) }
}
