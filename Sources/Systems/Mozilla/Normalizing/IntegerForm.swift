import JSONText
import Telemetry

/// The plain form of an integer, and the spellings that mean one without doubt.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", cases C1 to C4.
enum IntegerForm {
    /// The result for a value that should be an integer. Its texts do not name the field.
    enum Outcome {
        /// It is a plain integer.
        case plain
        /// It was rewritten as one: the code and the words of a note.
        case rewritten(code: String, note: String)
        /// It is none, and stays.
        case fault(String)
    }

    /// Writes an integer in its plain form where that is unambiguous.
    static func normalize(_ value: JSONNode, in document: inout JSONDocument) -> Outcome {
        switch document.kind(of: value) {
        case .number:
            if JSONNumberText.isPlainInteger(document.bytes(of: value)) { return .plain }
            let text = document.string(of: value)
            guard let integer = JSONNumberText.integer(from: document.bytes(of: value)) else {
                return .fault("\(text) is no integer")
            }
            document.replace(value, withNumber: integer)
            return .rewritten(code: "C1", note: "\(text) written as \(document.string(of: value))")
        case .string:
            let text = document.bytes(of: value).copied()
            guard isPlainDecimal(text.span) else { return .fault("is text and no plain decimal") }
            document.replace(value, withNumber: text)
            return .rewritten(code: "C3", note: "text written as number")
        case .true, .false: return .fault("is a boolean")
        default: return .fault("is no integer")
        }
    }

    /// Whether a text is an integer as JSON writes it.
    private static func isPlainDecimal(_ text: Span<UInt8>) -> Bool {
        let start = !text.isEmpty && text[0] == UInt8(ascii: "-") ? 1 : 0
        guard text.count > start, JSONNumberText.isPlainInteger(text) else { return false }
        return text[start] != UInt8(ascii: "0") || text.count == start + 1
    }
}

extension Findings {
    /// Adds a note or a fault for what became of an integer.
    /// - Returns: whether it is a plain integer now.
    mutating func take(_ outcome: IntegerForm.Outcome, name: () -> String) -> Bool {
        switch outcome {
        case .plain: return true
        case .rewritten(let code, let text):
            note("\(code) \(name()): \(text)")
            return true
        case .fault(let text):
            fault("\(name()) \(text)")
            return false
        }
    }
}
