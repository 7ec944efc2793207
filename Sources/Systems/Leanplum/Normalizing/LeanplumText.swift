import JSONText

/// A parser for the JSON text of stored requests.
struct LeanplumText {
    // If a key is repeated, its last value applies, as in Foundation. The depth limit leaves two levels for the
    // payload.
    private static let policy = JSONReadingPolicy(duplicateKeys: .lastWins, depthLimit: 510)
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// An error for a string that is not a request.
    struct TextError: Error {
        let reason: LeanplumRequestError
        var detail: String?
    }

    /// Parses a request, which must be a non-empty JSON object.
    static func parse(_ text: [UInt8], into document: inout JSONDocument) throws(TextError) {
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
