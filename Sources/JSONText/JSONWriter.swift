extension JSONDocument {
    /// Appends a value as canonical JSON: keys by UTF-8 bytes, no spaces, shortest escapes, numbers as stored.
    public func write(_ node: JSONNode, to output: inout [UInt8]) {
        let entry = nodes[Int(node.index)]
        switch entry.kind {
        case .removed: break
        case .null: output.append(copying: "null".utf8.span)
        case .true: output.append(copying: "true".utf8.span)
        case .false: output.append(copying: "false".utf8.span)
        case .number: output.append(copying: bytes(of: node))
        case .string:
            if entry.isResolved {
                output.append(jsonString: bytes(of: node))
            } else {
                output.append(quoting: bytes(of: node))
            }
        case .array: writeArray(node, to: &output)
        case .object: writeObject(node, to: &output)
        }
    }

    /// A value as canonical JSON.
    public func canonicalBytes(of node: JSONNode) -> [UInt8] {
        var output: [UInt8] = []
        write(node, to: &output)
        return output
    }

    private func writeArray(_ array: JSONNode, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "["))
        var element = firstElement(of: array)
        while let current = element {
            write(current, to: &output)
            element = self.element(after: current, of: array)
            if element != nil { output.append(UInt8(ascii: ",")) }
        }
        output.append(UInt8(ascii: "]"))
    }

    private func writeObject(_ object: JSONNode, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for position in 0..<count(of: object) {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            let member = member(at: position, of: object)
            write(member.key, to: &output)
            output.append(UInt8(ascii: ":"))
            write(member.value, to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension [UInt8] {
    /// Appends a text as a JSON string with the shortest escapes: only what RFC 8259 demands is escaped, and a lone
    /// surrogate (WTF-8), which UTF-8 cannot express.
    public mutating func append(jsonString text: Span<UInt8>) {
        append(UInt8(ascii: "\""))
        var index = 0
        while index < text.count {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case ..<0x20:
                append(controlEscape: byte)
            case 0xED where index + 2 < text.count && text[index + 1] >= 0xA0:
                append(unitEscape: 0xD000 | UInt16(text[index + 1] & 0x3F) << 6 | UInt16(text[index + 2] & 0x3F))
                index += 2
            default:
                append(byte)
            }
            index += 1
        }
        append(UInt8(ascii: "\""))
    }

    /// Appends a text as a JSON string.
    public mutating func append(jsonString text: String) {
        append(jsonString: text.utf8.span)
    }

    /// Appends a text that holds nothing to escape between quotation marks.
    mutating func append(quoting text: Span<UInt8>) {
        append(addingCapacity: text.count + 2) { output in
            output.append(UInt8(ascii: "\""))
            for index in text.indices { output.append(text[index]) }
            output.append(UInt8(ascii: "\""))
        }
    }

    private mutating func append(controlEscape byte: UInt8) {
        let short: UInt8? =
            switch byte {
            case 0x08: UInt8(ascii: "b")
            case 0x09: UInt8(ascii: "t")
            case 0x0A: UInt8(ascii: "n")
            case 0x0C: UInt8(ascii: "f")
            case 0x0D: UInt8(ascii: "r")
            default: nil
            }
        guard let short else { return append(unitEscape: UInt16(byte)) }
        append(UInt8(ascii: "\\"))
        append(short)
    }

    private mutating func append(unitEscape unit: UInt16) {
        append(UInt8(ascii: "\\"))
        append(UInt8(ascii: "u"))
        for shift in [12, 8, 4, 0] as [UInt16] {
            let digit = UInt8(unit >> shift & 0xF)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}
