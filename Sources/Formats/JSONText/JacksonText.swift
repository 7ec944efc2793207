import Bytes

/// A number as a server with the Java library Jackson reads it.
public enum JacksonNumber: Sendable {
    /// A number without a fraction and exponent, which keeps its digits.
    case integer
    /// Any other number.
    case real(Double)
    /// A number beyond the range of doubles, which is a string in all further steps, such as `Infinity`.
    case text(ConstantText)

    /// Reads the text of a JSON number.
    public init(_ text: Span<UInt8>) {
        guard !JSONNumberText.isPlainInteger(text) else {
            self = .integer
            return
        }
        let real = Double(String(readingUTF8: text)) ?? 0
        self = real.isFinite ? .real(real) : .text(real < 0 ? Pieces.negativeInfinity : Pieces.infinity)
    }
}

/// A notation of JSON values whose numbers are read by Jackson.
public enum JacksonNotation: Sendable {
    /// The text that Jackson writes: members in the order of the source, escapes in uppercase, and reals as in Java.
    case jackson
    /// Canonical JSON, with reals as RFC 8785 specifies.
    case canonical
}

extension JSONDocument {
    /// Appends a value, whose numbers are written as the server reads them.
    public func write(_ node: JSONNode, in notation: JacksonNotation, to output: inout TextBuffer) {
        switch kind(of: node) {
        case .removed: break
        case .null: output.append(Pieces.null)
        case .true: output.append(Pieces.true)
        case .false: output.append(Pieces.false)
        case .number: output.append(numberAsRead: bytes(of: node), in: notation)
        case .string:
            switch notation {
            case .jackson: output.append(jacksonString: bytes(of: node))
            case .canonical: output.append(jsonString: bytes(of: node))
            }
        case .array:
            output.append(UInt8(ascii: "["))
            let start = output.count
            var element = firstElement(of: node)
            while let current = element {
                if output.count > start { output.append(UInt8(ascii: ",")) }
                write(current, in: notation, to: &output)
                element = self.element(after: current, of: node)
            }
            output.append(UInt8(ascii: "]"))
        case .object: writeMembers(of: node, in: notation, to: &output)
        }
    }

    private func writeMembers(of object: JSONNode, in notation: JacksonNotation, to output: inout TextBuffer) {
        output.append(UInt8(ascii: "{"))
        let start = output.count
        switch notation {
        case .jackson:
            for member in membersInSource(of: object) {
                if output.count > start { output.append(UInt8(ascii: ",")) }
                output.append(jacksonString: bytes(of: member.key))
                output.append(UInt8(ascii: ":"))
                write(member.value, in: notation, to: &output)
            }
        case .canonical:
            for position in 0..<count(of: object) {
                let member = member(at: position, of: object)
                if position > 0 { output.append(UInt8(ascii: ",")) }
                output.append(jsonString: bytes(of: member.key))
                output.append(UInt8(ascii: ":"))
                write(member.value, in: notation, to: &output)
            }
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension TextBuffer {
    /// Appends a number as the server reads it.
    ///
    /// The integer `-0` becomes `0`, and a number beyond the range of doubles becomes a string.
    public mutating func append(numberAsRead text: Span<UInt8>, in notation: JacksonNotation) {
        switch (JacksonNumber(text), notation) {
        case (.integer, _): append(copying: text.equals("-0") ? text.extracting(1...) : text)
        case (.real(let real), .jackson): append(atMost: TextWriter.realLengthLimit) { $0.append(javaNumber: real) }
        case (.real(let real), .canonical): append(jsonNumber: real)
        case (.text(let text), _):
            append(UInt8(ascii: "\""))
            append(text)
            append(UInt8(ascii: "\""))
        }
    }

    /// Appends UTF-8 or WTF-8 as a JSON string with the escapes of Jackson.
    ///
    /// Lone surrogates are not escaped.
    public mutating func append(jacksonString text: Span<UInt8>) {
        append(atMost: text.canonicalLengthLimit) { output in
            output.append(UInt8(ascii: "\""))
            if text.needsNoEscape {
                output.append(copying: text)
            } else {
                for index in text.indices { output.append(jacksonByte: text[index]) }
            }
            output.append(UInt8(ascii: "\""))
        }
    }
}

extension TextWriter {
    fileprivate mutating func append(jacksonByte byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case ..<0x20:
            append(UInt8(ascii: "\\"))
            if let short = byte.shortJSONEscape { return append(short) }
            append(Pieces.unit)
            append((byte >> 4).upperHexadecimalDigit)
            append((byte & 0xF).upperHexadecimalDigit)
        default: append(byte)
        }
    }
}

/// Constant parts of values.
private enum Pieces {
    static let null: ConstantText = "null"
    static let `true`: ConstantText = "true"
    static let `false`: ConstantText = "false"
    static let infinity: ConstantText = "Infinity"
    static let negativeInfinity: ConstantText = "-Infinity"
    static let unit: ConstantText = "u00"
}
