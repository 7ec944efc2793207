import JSONText
import TestSupport

/// A random JSON value with an implementation of the canonical form that is independent of the tested code.
indirect enum ModelValue {
    case word(String)
    case number(String)
    case string([Unicode.Scalar])
    case array([ModelValue])
    case object([Member])

    struct Member {
        var key: [Unicode.Scalar]
        var value: ModelValue
    }

    /// The value in canonical form.
    var canonical: String {
        switch self {
        case .word(let text), .number(let text): return text
        case .string(let scalars): return Self.quoted(scalars)
        case .array(let elements): return "[" + elements.map(\.canonical).joined(separator: ",") + "]"
        case .object(let members):
            let sorted = members.sorted { Self.utf8($0.key).lexicographicallyPrecedes(Self.utf8($1.key)) }
            return "{" + sorted.map { Self.quoted($0.key) + ":" + $0.value.canonical }.joined(separator: ",")
                + "}"
        }
    }

    private static func utf8(_ scalars: [Unicode.Scalar]) -> [UInt8] {
        scalars.flatMap { Array(String($0).utf8) }
    }

    private static func quoted(_ scalars: [Unicode.Scalar]) -> String {
        let short: [UInt32: String] = [
            0x22: "\\\"", 0x5C: "\\\\", 8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r",
        ]
        var text = "\""
        for scalar in scalars {
            let digits = String(scalar.value, radix: 16)
            let long = "\\u" + String(repeating: "0", count: Swift.max(0, 4 - digits.count)) + digits
            text += short[scalar.value] ?? (scalar.value < 0x20 ? long : String(scalar))
        }
        return text + "\""
    }
}

extension ModelValue {
    static func random(_ depth: Int, using random: inout SeededGenerator) -> ModelValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &random) {
        case 0: return .word(random.pick(["null", "true", "false"]))
        case 1, 2: return .number(randomNumber(using: &random))
        case 3, 4: return .string(randomText(using: &random))
        case 5, 6:
            return .array(
                (0..<Int.random(in: 0..<6, using: &random)).map { _ in .random(depth - 1, using: &random) })
        default:
            var seen: Set<String> = []
            var members: [Member] = []
            for _ in 0..<Int.random(in: 0..<(random.chance(3) ? 90 : 7), using: &random) {
                let key = randomText(using: &random)
                guard seen.insert(quoted(key)).inserted else { continue }
                members.append(Member(key: key, value: .random(depth - 1, using: &random)))
            }
            return .object(members)
        }
    }

    private static func randomNumber(using random: inout SeededGenerator) -> String {
        func digits(_ count: ClosedRange<Int>) -> String {
            (0..<Int.random(in: count, using: &random)).map { _ in
                String(Int.random(in: 0...9, using: &random))
            }
            .joined()
        }
        var text = random.chance(30) ? "-" : ""
        text += random.chance(20) ? "0" : String(Int.random(in: 1...9, using: &random)) + digits(0...24)
        if random.chance(30) { text += "." + digits(1...12) }
        if random.chance(20) {
            text += random.pick(["e", "E", "e+", "E-"]) + digits(1...4)
        }
        return text
    }

    private static let scalars: [Unicode.Scalar] = [
        "a", "b", "k", "Z", "0", " ", "/", "\"", "\\", "\u{0}", "\u{8}", "\t", "\n", "\u{C}", "\r", "\u{1F}",
        "\u{7F}",
        "\u{80}", "é", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFD}", "\u{FFFF}", "\u{10000}", "😀",
        "\u{10FFFF}",
    ]

    private static func randomText(using random: inout SeededGenerator) -> [Unicode.Scalar] {
        let isPlain = random.chance(60)
        return (0..<Int.random(in: 0..<(random.chance(10) ? 60 : 12), using: &random)).map { _ in
            random.pick(isPlain ? scalars[..<5] : scalars[...])
        }
    }
}

extension ModelValue {
    /// Returns the value as JSON with random white space and unnecessary escapes.
    func unformatted(using random: inout SeededGenerator) -> String {
        func space() -> String {
            guard random.chance(40) else { return "" }
            if random.chance(30) {
                return "\n" + String(repeating: " ", count: Int.random(in: 0...20, using: &random))
            }
            return random.pick([" ", "\t", "\r\n", "  "])
        }
        func joined(_ parts: [String], _ open: String, _ close: String) -> String {
            open + space() + parts.joined(separator: space() + "," + space()) + space() + close
        }
        switch self {
        case .word(let text), .number(let text): return text
        case .string(let scalars): return Self.unformatted(scalars, using: &random)
        case .array(let elements): return joined(elements.map { $0.unformatted(using: &random) }, "[", "]")
        case .object(let members):
            let parts = members.map {
                Self.unformatted($0.key, using: &random) + space() + ":" + space()
                    + $0.value.unformatted(using: &random)
            }
            return joined(parts, "{", "}")
        }
    }

    private static func unformatted(_ scalars: [Unicode.Scalar], using random: inout SeededGenerator) -> String {
        var text = "\""
        for scalar in scalars {
            let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            guard mustEscape || random.chance(10) else {
                text += String(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16, uppercase: random.chance(50))
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return text + "\""
    }
}
