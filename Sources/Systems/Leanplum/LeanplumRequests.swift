import Bytes
import Hashing
import JSONText
import PropertyList
import Telemetry

/// A builder that groups the requests in a store into records.
///
/// A record consists of consecutive requests with the same device, mode and batch id. Skipped items do not end a
/// record.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.2.
package struct LeanplumRequests: Sendable {
    /// The maximum number of requests in a `multi` call of the SDK.
    ///
    /// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.4.
    package static let maximumRequestsPerCall = 10_000

    /// The limits of a record.
    package struct Limits: Sendable {
        /// The maximum number of requests in a record.
        let requestCount: Int
        /// The size of the payload, in bytes, beyond which a record ends.
        ///
        /// A larger payload would have to be split for the upload. The size is also the maximum size of a property list
        /// value.
        let byteCount: Int
        /// The maximum number of notes in a record.
        ///
        /// Further notes are only counted.
        let noteCount: Int

        /// Creates limits, which by default are the limits of the SDK and of uploads.
        package init(
            requestCount: Int = LeanplumRequests.maximumRequestsPerCall, byteCount: Int = 16 << 20,
            noteCount: Int = 100_000
        ) {
            self.requestCount = requestCount
            self.byteCount = byteCount
            self.noteCount = noteCount
        }
    }

    /// The number of items that were added or skipped.
    package private(set) var itemCount = 0
    private let source: Source
    private let applicationID: String?
    /// The limits of each record.
    let limits: Limits
    private var partialRecord: PartialRecord?
    /// The notes for the next record.
    private var pendingNotes = Notes()
    private var requestIndex = DuplicateIndex()
    private var document = JSONDocument()
    private var scratch = JSONDocument()
    private var groupingKey: [UInt8] = []
    private var rejectCount = 0

    /// The maximum number of skipped items that are listed.
    ///
    /// Further skipped items are only counted.
    private static let maximumListedRejects = 100

    /// The notes of a record.
    ///
    /// The number of listed notes is limited, because a request can be repeated any number of times.
    private struct Notes {
        private var listed: [String] = []
        private var unlistedCount = 0

        mutating func append(_ added: [String], limit: Int) {
            for note in added {
                if listed.count < limit { listed.append(note) } else { unlistedCount += 1 }
            }
        }

        var texts: [String] { unlistedCount == 0 ? listed : listed + ["\(unlistedCount) more notes"] }
    }

    private struct PartialRecord {
        let groupingKey: [UInt8]
        let firstIndex: Int
        let client: String?
        let time: Timestamp?
        var version: String?
        var notes: Notes
        var requestCount = 0
        var payload = Array("{\"data\":[".utf8)

        mutating func append(_ canonical: [UInt8], versionName: String?) {
            if requestCount > 0 { payload.append(UInt8(ascii: ",")) }
            requestCount += 1
            payload += canonical
            version = versionName ?? version
        }

        consuming func record(from store: Source, applicationID: String?) -> Record {
            payload += "]}".utf8
            var source = store
            source.index = firstIndex
            return Record(
                system: .leanplum, type: "multi", id: PayloadHash.id(of: payload), client: client, time: time,
                app: App(id: applicationID, version: version), target: .leanplum, payload: payload, source: source,
                notes: notes.texts)
        }
    }

    /// Creates a builder for the requests in a store.
    package init(from source: Source, applicationID: String? = nil, limits: Limits = Limits()) {
        self.source = source
        self.applicationID = applicationID
        self.limits = limits
    }

    /// Adds the next item, whose JSON text is `text`.
    package mutating func append(_ text: [UInt8], rowid: Int64? = nil, into output: inout ScanOutput) throws {
        do throws(LeanplumText.TextError) {
            try LeanplumText.parse(text, into: &document)
        } catch {
            return try skipItem(error.reason, error.detail, rowid: rowid, into: &output)
        }
        try addParsedRequest(rowid: rowid, into: &output)
    }

    /// Adds the next item from a BLOB that contains JSON text, or a keyed archive of JSON text.
    package mutating func append(blob: [UInt8], rowid: Int64, into output: inout ScanOutput) throws {
        if let text = ArchivedText.read(blob) { return try append(text, rowid: rowid, into: &output) }
        do throws(LeanplumText.TextError) {
            try LeanplumText.parse(blob, into: &document)
        } catch {
            let isJSON = error.reason == .notObject || error.reason == .emptyObject
            return try skipItem(isJSON ? error.reason : .undecodableBLOB, rowid: rowid, into: &output)
        }
        try addParsedRequest(rowid: rowid, into: &output)
    }

    /// Reports all missing items before `index`.
    package mutating func reportMissing(before index: Int, into output: inout ScanOutput) {
        guard index > itemCount else { return }
        let items = index - itemCount == 1 ? "item \(itemCount)" : "items \(itemCount) to \(index - 1)"
        output.report(Problem("missing_item", "\(items) counted, but not there"))
        itemCount = index
    }

    /// Rejects an item that is not a request.
    package mutating func skipItem(
        _ reason: LeanplumRequestError, _ detail: String? = nil, rowid: Int64? = nil, into output: inout ScanOutput
    ) throws {
        try reject(reason, detail, rowid: rowid, into: &output)
        itemCount += 1
    }

    /// Ends the current record because items may have been lost, and adds `note` to the next record.
    package mutating func endRecord(noting note: String, into output: inout ScanOutput) throws {
        try outputRecord(into: &output)
        pendingNotes.append([note], limit: limits.noteCount)
    }

    /// Ends the last record, and adds it to the output.
    package mutating func finish(into output: inout ScanOutput) throws {
        try outputRecord(into: &output)
        guard rejectCount > Self.maximumListedRejects else { return }
        try output.reject(
            Reject("skipped \(rejectCount - Self.maximumListedRejects) more items that are no requests"))
    }

    // MARK: Requests

    private mutating func addParsedRequest(rowid: Int64?, into output: inout ScanOutput) throws {
        let removed = document.removeLeanplumCredentials(from: document.root)
        let request = LeanplumRequest(document: document)
        let index = itemCount
        itemCount += 1
        let canonical = document.canonicalBytes(of: document.root)
        var issues = request.issues(using: &scratch)
        let isOmitted = try checkForOmission(request, canonical, &issues, index: index, rowid: rowid, into: &output)
        let notes = (issues + removed).map { "\($0)@\(index)" }
        guard !isOmitted else {
            if partialRecord == nil {
                pendingNotes.append(notes, limit: limits.noteCount)
            } else {
                partialRecord?.notes.append(notes, limit: limits.noteCount)
            }
            return
        }
        groupingKey.removeAll(keepingCapacity: true)
        request.appendGroupingKey(to: &groupingKey)
        if let partialRecord,
            partialRecord.groupingKey != groupingKey || partialRecord.requestCount >= limits.requestCount
                || partialRecord.payload.count + canonical.count > limits.byteCount
        {
            try outputRecord(into: &output)
        }
        if partialRecord == nil {
            partialRecord = PartialRecord(
                groupingKey: groupingKey, firstIndex: index, client: request.deviceID, time: request.time,
                notes: pendingNotes)
            pendingNotes = Notes()
        }
        partialRecord?.append(canonical, versionName: request.versionName)
        partialRecord?.notes.append(notes, limit: limits.noteCount)
    }

    /// Returns whether `request` must be omitted because it is a duplicate or has no action.
    ///
    /// If the request is a duplicate, adds a note to `issues`.
    private mutating func checkForOmission(
        _ request: LeanplumRequest, _ canonical: [UInt8], _ issues: inout [String], index: Int, rowid: Int64?,
        into output: inout ScanOutput
    ) throws -> Bool {
        var isOmitted = false
        if request.action == nil {
            isOmitted = true
            try reject(.missingAction, nil, rowid: rowid, index: index, into: &output)
        }
        // A request without an id is identified by its content.
        let content = Digest16(of: canonical.span)
        let identity = request.requestID.map { Digest16(of: $0.span) } ?? content
        let finding = requestIndex.insert(RecordKey(identity: identity, content: content))
        guard finding != .new else { return isOmitted }
        issues.append("duplicate_request")
        issues.sort()
        if finding == .sameIDOtherPayload, !isOmitted {
            try reject(.reusedRequestID, "another request has its reqId", rowid: rowid, index: index, into: &output)
        }
        return true
    }

    private mutating func reject(
        _ reason: LeanplumRequestError, _ detail: String?, rowid: Int64?, index: Int? = nil,
        into output: inout ScanOutput
    ) throws {
        rejectCount += 1
        guard rejectCount <= Self.maximumListedRejects else { return }
        let row = rowid.map { ", rowid \($0)" } ?? ""
        let suffix = detail.map { ": \($0)" } ?? ""
        try output.reject(Reject("\(reason.rawValue) item \(index ?? itemCount)\(row)\(suffix)"))
    }

    private mutating func outputRecord(into output: inout ScanOutput) throws {
        guard let finished = partialRecord.take() else { return }
        try output.add(finished.record(from: source, applicationID: applicationID))
    }
}

/// A decoder for keyed archives that contain a string.
///
/// The SDK reads all BLOBs as such archives.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section A.2.
private enum ArchivedText {
    /// Returns the UTF-8 bytes of the archived string, or `nil` if `bytes` are not a keyed archive of a string.
    static func read(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.starts(with: "bplist".utf8), let document = try? PropertyListDocument(bytes),
            document.repeatedKeys == nil, var archive = try? KeyedArchive(document), let root = try? archive.root(),
            case .text(let node)? = try? archive.value(ofObject: root)
        else { return nil }
        var text: [UInt8] = []
        document.appendUTF8(of: node, to: &text)
        return text
    }
}

/// A view of one stored request.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", sections B and C.1.
private struct LeanplumRequest {
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
private struct LeanplumText {
    // If a key is repeated, its last value applies, as in Foundation. The depth limit leaves two levels for the
    // payload.
    private static let policy = JSONReadingPolicy(duplicateKeys: .lastWins, depthLimit: 510)

    /// An error for a string that is not a request.
    struct TextError: Error {
        let reason: LeanplumRequestError
        var detail: String?
    }

    /// Parses a request, which must be a non-empty JSON object.
    static func parse(_ text: [UInt8], into document: inout JSONDocument) throws(TextError) {
        do throws(JSONError) {
            try document.read(text.starts(with: ByteOrderMark.utf8) ? Array(text.dropFirst(3)) : text, policy: policy)
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
        removeMembers(LeanplumFields.credentialKeys, from: object).map { "credential_removed:\($0)" }
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
