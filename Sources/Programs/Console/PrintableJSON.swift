import Bytes

/// Rewrites JSON so that it can be shown on a terminal: what cannot be seen is escaped (`\u001b`, `\u202e`). The value
/// stays the same, for only strings hold such characters. The text may come in pieces that end anywhere.
public struct PrintableJSON: Sendable {
    /// The first bytes of a character whose last ones have not come yet.
    private var begun: [UInt8] = []

    /// Begins a text.
    public init() {}

    /// A whole text, rewritten.
    public static func rewriting(_ json: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(json.count)
        var rewriter = PrintableJSON()
        rewriter.rewrite(json.span, to: &output)
        return output
    }

    /// Appends what the next piece of the text becomes.
    public mutating func rewrite(_ piece: Span<UInt8>, to output: inout [UInt8]) {
        for index in piece.indices {
            let byte = piece[index]
            if begun.isEmpty, (0x20..<0x7F).contains(byte) || byte == UInt8(ascii: "\n") {
                output.append(byte)
            } else {
                add(byte, to: &output)
            }
        }
    }

    /// Takes a byte that is a character only together with others, or that cannot be seen.
    private mutating func add(_ byte: UInt8, to output: inout [UInt8]) {
        let continues = byte & 0xC0 == 0x80
        if !begun.isEmpty, !continues { finish(&output) }
        begun.append(byte)
        if begun.count == Self.length(begunWith: begun[0]) { finish(&output) }
    }

    /// Appends the character that has come. Bytes that are none show as U+FFFD.
    private mutating func finish(_ output: inout [UInt8]) {
        for scalar in String(decoding: begun, as: UTF8.self).unicodeScalars {
            guard scalar.isUnseen, scalar != "\n" else {
                output.append(contentsOf: String(scalar).utf8)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                output.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
            }
        }
        begun.removeAll(keepingCapacity: true)
    }

    /// How many bytes a character has, by its first one.
    private static func length(begunWith byte: UInt8) -> Int {
        switch byte {
        case 0xC2..<0xE0: 2
        case 0xE0..<0xF0: 3
        case 0xF0..<0xF5: 4
        default: 1
        }
    }
}
