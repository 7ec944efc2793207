import JSONText

/// Why a stored item is no request.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.1 and E.4.
package enum LeanplumSkip: String, Error, Sendable {
    /// The text is no JSON: cut, empty, with `NaN` or a lone surrogate.
    case invalidJSON = "invalid_json"
    /// JSON, but no object.
    case notObject = "not_object"
    /// An object without members.
    case emptyObject = "empty_object"
    /// More levels than a payload can hold.
    case tooDeep = "too_deep"
    /// More bytes than a row may have.
    case tooLarge = "too_large"
    /// The text is not UTF-8.
    case invalidUTF8 = "invalid_utf8"
    /// The text has a NUL in it.
    case embeddedNUL = "embedded_nul"
    /// A BLOB that is neither an archived string nor JSON text.
    case undecodableBLOB = "blob_undecodable"
    /// A property list value that JSON has no form for: a date, data, a UID.
    case nonJSONValue = "non_json_value"
    /// A request without an action, which the service could make nothing of.
    case missingAction = "missing_action"
    /// A request with the `reqId` of another one, but other content.
    case reusedRequestID = "duplicate_request"
}

/// The text of one stored item, read.
struct LeanplumText {
    /// Foundation lets the last one of equal keys win, and gives up at 513 levels. A payload may have 512, and a request
    /// stands two levels deep in it.
    private static let policy = JSONReadingPolicy(duplicateKeys: .lastWins, depthLimit: 510)
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// An item that is skipped: why, and the message of the reader.
    struct TextError: Error {
        let skip: LeanplumSkip
        var detail: String?
    }

    /// Reads a text that has to be a request: an object with members.
    static func read(_ text: [UInt8], into document: inout JSONDocument) throws(TextError) {
        do throws(JSONError) {
            try document.read(text.starts(with: byteOrderMark) ? Array(text.dropFirst(3)) : text, policy: policy)
        } catch {
            throw TextError(skip: skip(for: error, in: text), detail: error.description)
        }
        guard document.kind(of: document.root) == .object else { throw TextError(skip: .notObject) }
        guard document.memberCount(of: document.root) > 0 else { throw TextError(skip: .emptyObject) }
    }

    private static func skip(for error: JSONError, in text: [UInt8]) -> LeanplumSkip {
        if error.code == .invalidUTF8 || (try? UTF8Span(validating: text.span)) == nil { return .invalidUTF8 }
        if text.contains(0) { return .embeddedNUL }
        return error.code == .tooDeep ? .tooDeep : .invalidJSON
    }
}
