import JSONText

/// A reader for the JSON of stored items.
struct LeanplumText {
    // Foundation uses the last of equal keys. A request is nested two levels deep in a payload of at most 512 levels.
    private static let policy = JSONReadingPolicy(duplicateKeys: .lastWins, depthLimit: 510)
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The reason why a string is not a request, and the error of the JSON reader.
    struct TextError: Error {
        let reason: LeanplumRequestError
        var detail: String?
    }

    /// Reads a string that must be a request, which is an object with members.
    static func read(_ text: [UInt8], into document: inout JSONDocument) throws(TextError) {
        do throws(JSONError) {
            try document.read(text.starts(with: byteOrderMark) ? Array(text.dropFirst(3)) : text, policy: policy)
        } catch {
            throw TextError(reason: reason(for: error, in: text), detail: error.description)
        }
        guard document.kind(of: document.root) == .object else { throw TextError(reason: .notObject) }
        guard document.memberCount(of: document.root) > 0 else { throw TextError(reason: .emptyObject) }
    }

    private static func reason(for error: JSONError, in text: [UInt8]) -> LeanplumRequestError {
        if error.code == .invalidUTF8 || (try? UTF8Span(validating: text.span)) == nil { return .invalidUTF8 }
        if text.contains(0) { return .embeddedNUL }
        return error.code == .tooDeep ? .tooDeep : .invalidJSON
    }
}
