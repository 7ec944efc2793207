import JSONText

/// The plain form of an integer, and the spellings that mean one without doubt.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", cases C1 to C4.
enum IntegerForm {
    /// Writes an integer in its plain form, with a note if it was not; anything else is a fault and stays.
    /// - Returns: whether the value is now a plain integer.
    @discardableResult
    static func normalize(
        _ value: JSONNode, in document: inout JSONDocument, name: () -> String, findings: inout Findings
    ) -> Bool {
        switch document.kind(of: value) {
        case .number:
            if document.isPlainInteger(value) { return true }
            let text = document.string(of: value)
            guard let integer = JSONNumberText.integer(from: document.bytes(of: value)) else {
                findings.fault("\(name()) \(text) is no integer")
                return false
            }
            document.replace(value, withNumber: integer)
            findings.note("C1 \(name()): \(text) written as \(document.string(of: value))")
            return true
        case .string:
            let text = document.bytes(of: value).copied()
            guard isPlainDecimal(text.span) else {
                findings.fault("\(name()) is text and no plain decimal")
                return false
            }
            document.replace(value, withNumber: text)
            findings.note("C3 \(name()): text written as number")
            return true
        case .true, .false:
            findings.fault("\(name()) is a boolean")
            return false
        default:
            findings.fault("\(name()) is no integer")
            return false
        }
    }

    /// Whether a text is an integer as JSON writes it.
    private static func isPlainDecimal(_ text: Span<UInt8>) -> Bool {
        let start = !text.isEmpty && text[0] == UInt8(ascii: "-") ? 1 : 0
        guard text.count > start, JSONNumberText.isPlainInteger(text) else { return false }
        return text[start] != UInt8(ascii: "0") || text.count == start + 1
    }
}

extension JSONDocument {
    /// Whether a number is written without fraction and exponent.
    func isPlainInteger(_ value: JSONNode) -> Bool {
        JSONNumberText.isPlainInteger(bytes(of: value))
    }
}
