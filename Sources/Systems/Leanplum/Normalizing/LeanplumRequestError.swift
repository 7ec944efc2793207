/// The reason why a stored item is rejected.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections C.1 and E.4.
package enum LeanplumRequestError: String, Error, Sendable {
    /// The string is not JSON, for example because it is truncated or contains `NaN` or an unpaired surrogate.
    case invalidJSON = "invalid_json"
    case notObject = "not_object"
    case emptyObject = "empty_object"
    /// The item is nested more deeply than a payload permits.
    case tooDeep = "too_deep"
    /// The item exceeds the maximum size of a row or of a property list value.
    case tooLarge = "too_large"
    case invalidUTF8 = "invalid_utf8"
    case embeddedNUL = "embedded_nul"
    /// The BLOB is neither an archived string nor JSON.
    case undecodableBLOB = "blob_undecodable"
    /// The property list contains a value that JSON cannot express: a date, data or a UID.
    case nonJSONValue = "non_json_value"
    /// The request has no action, so the server cannot process it.
    case missingAction = "missing_action"
    /// The request has the `reqId` of another request with different content.
    case reusedRequestID = "duplicate_request"
}
