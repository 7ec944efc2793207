/// Why a stored item is no request.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.1 and E.4.
package enum LeanplumRequestError: String, Error, Sendable {
    /// The text is no JSON: cut, empty, with `NaN` or a lone surrogate.
    case invalidJSON = "invalid_json"
    case notObject = "not_object"
    case emptyObject = "empty_object"
    /// More levels than a payload can hold.
    case tooDeep = "too_deep"
    /// More bytes than a row may have.
    case tooLarge = "too_large"
    case invalidUTF8 = "invalid_utf8"
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
