import JSONText
import Telemetry

/// A view of one stored request.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B and C.1.
struct LeanplumRequest {
    let document: JSONDocument

    private var root: JSONNode { document.root }

    /// The API method, or `nil` if it is missing, empty or not a string.
    var action: String? { document.text(LeanplumKeys.action, in: root) }

    /// The id of the device, or `nil` if it is missing, empty or not a string.
    var deviceID: String? { document.text(LeanplumKeys.deviceID, in: root) }

    /// The version of the app, or `nil` if the request does not contain it.
    ///
    /// Only `start` requests contain it.
    var versionName: String? { document.text(LeanplumKeys.versionName, in: root) }

    /// The time at which the request was queued, truncated to milliseconds, or `nil` if it is missing or malformed.
    var time: Timestamp? { document.leanplumTime(of: root) }

    /// Returns the notes on unexpected values of the request, in sorted order.
    func issues(using scratch: inout JSONDocument) -> [String] {
        var issues: [String] = []
        for key in LeanplumFields.nestedKeys where !isNestedJSONValid(forKey: key, using: &scratch) {
            issues.append("bad_nested_json:\(key)")
        }
        if !document.hasStoredLeanplumTime(root) { issues.append("bad_time") }
        if !isValueValid { issues.append("bad_value") }
        let action = action
        if action == nil { issues.append("missing_action") }
        if deviceID == nil { issues.append("missing_device_id") }
        if let action, !LeanplumVocabulary.actionNames.contains(action) { issues.append("unknown_action") }
        return issues
    }

    /// Appends a key that consists of the device, the mode and the batch id.
    ///
    /// All requests in a record have the same key.
    func appendGroupingKey(to output: inout [UInt8]) {
        for key in [LeanplumKeys.deviceID, LeanplumKeys.devMode, LeanplumKeys.uuid] {
            if let node = document.value(of: key, in: root), document.kind(of: node) != .null {
                document.write(node, to: &output)
            }
            // A line feed separates the values, because canonical JSON contains none.
            output.append(UInt8(ascii: "\n"))
        }
    }

    /// The canonical JSON of the id of the request, or `nil` if the request has no id.
    var requestID: [UInt8]? {
        guard let node = document.value(of: LeanplumKeys.requestID, in: root) else { return nil }
        switch document.kind(of: node) {
        case .null, .false, .removed: return nil
        case .string where document.bytes(of: node).isEmpty: return nil
        default: return document.canonicalBytes(of: node)
        }
    }

    // MARK: Members

    /// Whether the string in the member `value`, if there is one, is a number, infinity or NaN.
    private var isValueValid: Bool {
        guard let node = document.value(of: LeanplumKeys.value, .string, in: root) else { return true }
        return document.bytes(of: node).isPlainDecimal || Double(document.string(of: node)) != nil
    }

    private func isNestedJSONValid(forKey key: JSONKey, using scratch: inout JSONDocument) -> Bool {
        guard let node = document.value(of: key, .string, in: root), !document.bytes(of: node).isEmpty else {
            return true
        }
        return scratch.read(stringAt: node, of: document)
    }
}

extension JSONDocument {
    /// Returns the time at which a request was queued, truncated to milliseconds.
    ///
    /// Returns `nil` if the time is missing or not a decimal number, or if it is after the year 9999. The number can have
    /// an exponent, as in the requests that Mozilla's documentation of Leanplum prints.
    func leanplumTime(of request: JSONNode) -> Timestamp? {
        value(of: LeanplumKeys.time, .string, in: request).flatMap { Timestamp(decimalSeconds: bytes(of: $0)) }
    }

    /// Returns whether the time of a request has the form that the SDK on iOS stores.
    fileprivate func hasStoredLeanplumTime(_ request: JSONNode) -> Bool {
        value(of: LeanplumKeys.time, .string, in: request).map { bytes(of: $0).isPlainDecimal } ?? false
    }
}

extension Span<UInt8> {
    /// Whether the string consists of digits with an optional decimal point between them.
    var isPlainDecimal: Bool {
        var digits = 0
        var points = 0
        for index in indices {
            if self[index].isDigit {
                digits += 1
            } else {
                guard self[index] == UInt8(ascii: "."), digits > 0, points == 0 else { return false }
                points = 1
                digits = 0
            }
        }
        return digits > 0
    }
}

// MARK: - Parsing

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

extension JSONDocument {
    /// Removes all credentials from a request, and returns a note for each.
    mutating func removeLeanplumCredentials(from object: JSONNode) -> [String] {
        guard kind(of: object) == .object else { return [] }
        var notes: [String] = []
        for key in LeanplumFields.credentialKeys {
            guard let value = value(of: key, in: object) else { continue }
            removeMember(withValue: value, from: object)
            notes.append("credential_removed:\(key)")
        }
        return notes
    }
}

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
