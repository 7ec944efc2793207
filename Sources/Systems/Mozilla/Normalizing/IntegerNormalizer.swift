import JSONText
import Telemetry

/// The functions that normalize integers in another form, such as `1.0` or `"1"`.
///
/// Source: "Mozilla telemetry-ios: on-disk stores, normalized pings, upload", cases C1 to C4.
enum IntegerNormalizer {
    /// The result of normalizing a value.
    enum Outcome {
        /// The value is a plain integer.
        case plain
        /// The value was replaced with a plain integer, which requires a note.
        case rewritten(code: String, note: String)
        /// The value is not an integer and was not changed.
        case fault(String)
    }

    /// Replaces `value` with a plain integer if `value` unambiguously represents an integer.
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

    /// Returns whether `text` is an integer in JSON syntax.
    private static func isPlainDecimal(_ text: Span<UInt8>) -> Bool {
        let start = !text.isEmpty && text[0] == UInt8(ascii: "-") ? 1 : 0
        guard text.count > start, JSONNumberText.isPlainInteger(text) else { return false }
        return text[start] != UInt8(ascii: "0") || text.count == start + 1
    }
}

extension Findings {
    /// Adds the note or the fault of `outcome`, and returns whether the value is now a plain integer.
    mutating func add(_ outcome: IntegerNormalizer.Outcome, name: () -> String) -> Bool {
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
