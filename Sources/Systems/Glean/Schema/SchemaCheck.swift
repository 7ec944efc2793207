import JSONText
import Telemetry

/// Compares a value with the form that it must have: what violates it, and which keys it does not know.
///
/// The path to a value becomes a text only where there is something to tell.
struct SchemaCheck {
    private enum Step {
        case key(JSONNode)
        case element(Int)
    }

    /// What violates the form.
    private(set) var findings = Findings()
    /// How many keys were met that the form does not have, and the first of them.
    private(set) var unknownKeys: [String] = []
    private(set) var unknownCount = 0
    private let document: JSONDocument
    private var path: [Step] = []

    private static let mostFaults = 8

    /// - Parameter document: holds the value.
    init(_ document: JSONDocument) {
        self.document = document
    }

    /// Checks a value.
    mutating func check(_ node: JSONNode, _ rule: SchemaRule) {
        // A body full of faults needs no more than these.
        guard findings.faults.count < Self.mostFaults else { return }
        let kind = document.kind(of: node)
        switch rule {
        case .free: return
        case .boolean: expect(kind == .true || kind == .false, "no boolean")
        case .integer(let least): checkInteger(node, kind, least)
        case .share: checkShare(node, kind)
        case .string(let most): checkString(node, kind, most)
        case .text(let name, let isGood): expect(kind == .string && isGood(document.bytes(of: node)), "no \(name)")
        case .list(let rule): checkList(node, kind, rule)
        case .structure: expect(kind == .object || kind == .array, "neither object nor array")
        case .object(let keys): checkObject(node, kind, keys, isClosed: true)
        case .open(let keys): checkObject(node, kind, keys, isClosed: false)
        case .map(let name, let isGood, let rule): checkMap(node, kind, name, isGood, rule)
        case .orNull(let rule): if kind != .null { check(node, rule) }
        }
    }

    private mutating func expect(_ isGood: Bool, _ fault: @autoclosure () -> String) {
        if !isGood { findings.fault("\(place): \(fault())") }
    }

    // MARK: Scalars

    private mutating func checkInteger(_ node: JSONNode, _ kind: JSONKind, _ least: Int?) {
        guard kind == .number, document.bytes(of: node).isPlainInteger else { return expect(false, "no integer") }
        guard let least else { return }
        let text = document.string(of: node)
        // One beyond the range of 64 bits has its sign to tell.
        expect(Int(text).map { $0 >= least } ?? !text.hasPrefix("-"), "less than \(least)")
    }

    private mutating func checkShare(_ node: JSONNode, _ kind: JSONKind) {
        let number = kind == .number ? Double(document.string(of: node)) : nil
        expect(number.map { (0...1).contains($0) } ?? false, "no number from 0 to 1")
    }

    private mutating func checkString(_ node: JSONNode, _ kind: JSONKind, _ most: Int?) {
        guard kind == .string else { return expect(false, "no string") }
        guard let most else { return }
        expect(document.bytes(of: node).hasCharacters(atMost: most), "more than \(most) characters")
    }

    // MARK: Containers

    private mutating func checkList(_ node: JSONNode, _ kind: JSONKind, _ rule: SchemaRule) {
        guard kind == .array else { return expect(false, "no array") }
        var element = document.firstElement(of: node)
        var index = 0
        while let current = element {
            path.append(.element(index))
            check(current, rule)
            path.removeLast()
            element = document.element(after: current, of: node)
            index += 1
        }
    }

    /// Both the members and the known keys stand in canonical order.
    private mutating func checkObject(_ node: JSONNode, _ kind: JSONKind, _ keys: SchemaKeys, isClosed: Bool) {
        guard kind == .object else { return expect(false, "no object") }
        var left = keys.sorted[...]
        for place in 0..<document.memberCount(of: node) {
            let member = document.member(at: place, of: node)
            while let key = left.first, document.bytes(of: member.key).ordered(against: key.key) > 0 {
                miss(key)
                left.removeFirst()
            }
            if let key = left.first, document.bytes(of: member.key).equals(key.key.utf8.span) {
                check(member.value, key.rule, at: member.key)
                left.removeFirst()
            } else if isClosed {
                note(member.key)
            }
        }
        for key in left { miss(key) }
    }

    private mutating func miss(_ key: SchemaKey) {
        guard key.isRequired else { return }
        let place = place
        findings.fault("\(place.isEmpty ? "" : place + ".")\(key.key) missing")
    }

    private mutating func checkMap(
        _ node: JSONNode, _ kind: JSONKind, _ name: String, _ isGood: (Span<UInt8>) -> Bool, _ rule: SchemaRule
    ) {
        guard kind == .object else { return expect(false, "no object") }
        for place in 0..<document.memberCount(of: node) {
            let member = document.member(at: place, of: node)
            guard isGood(document.bytes(of: member.key)) else {
                path.append(.key(member.key))
                expect(false, "not the name of \(name)")
                path.removeLast()
                continue
            }
            check(member.value, rule, at: member.key)
        }
    }

    private mutating func check(_ value: JSONNode, _ rule: SchemaRule, at key: JSONNode) {
        path.append(.key(key))
        check(value, rule)
        path.removeLast()
    }

    private mutating func note(_ key: JSONNode) {
        unknownCount += 1
        guard unknownKeys.count < NameList.mostNames else { return }
        path.append(.key(key))
        unknownKeys.append(place)
        path.removeLast()
    }

    /// The way to the value that is checked: `metrics.counter.a_b`, `events[3].name`.
    private var place: String {
        path.reduce(into: "") { text, step in
            switch step {
            case .key(let key):
                if !text.isEmpty { text += "." }
                // A hostile key can have megabytes.
                text += document.string(of: key).prefix(NameList.mostCharacters)
            case .element(let index): text += "[\(index)]"
            }
        }
    }
}

extension Span<UInt8> {
    /// Whether the text of a number has neither point nor exponent.
    fileprivate var isPlainInteger: Bool {
        for index in indices where !self[index].isDigit && self[index] != UInt8(ascii: "-") { return false }
        return true
    }

    /// Whether the text has at most so many characters, each being one scalar.
    func hasCharacters(atMost characters: Int) -> Bool {
        guard count > characters else { return true }
        var found = 0
        for index in indices where self[index] & 0xC0 != 0x80 { found += 1 }
        return found <= characters
    }
}
