import JSONText
import Telemetry

/// A builder that groups the requests in a store into records.
///
/// A record consists of consecutive requests with the same device, mode and batch id. Skipped items are ignored.
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
        package var requests = LeanplumRequests.maximumRequestsPerCall
        /// The size, in bytes, beyond which a record ends.
        ///
        /// It is also the maximum size of a property list value.
        ///
        /// A larger payload would have to be split for the upload.
        package var bytes = 16 << 20
        /// The maximum number of notes in a record.
        ///
        /// Further notes are only counted.
        package var notes = 100_000
    }

    /// The number of items that were added or skipped.
    package private(set) var count = 0
    private let source: Source
    private let applicationID: String?
    /// The limits of a record.
    ///
    /// They must not change after the first item.
    package var limits = Limits()
    private var partialRecord: PartialRecord?
    /// The notes for the next record.
    private var pendingNotes = Notes()
    private var seen = DuplicateIndex()
    private let secret: RunSecret
    private var document = JSONDocument()
    private var scratch = JSONDocument()
    private var key: [UInt8] = []
    private var rejects = 0

    /// The maximum number of skipped items that are listed.
    ///
    /// Further ones are only counted.
    private static let maximumNamedRejects = 100

    /// The notes of a record.
    ///
    /// Their number is limited because a request can be repeated any number of times.
    private struct Notes {
        private var named: [String] = []
        private var more = 0

        mutating func append(_ added: [String], limit: Int) {
            for note in added {
                if named.count < limit { named.append(note) } else { more += 1 }
            }
        }

        var texts: [String] { more == 0 ? named : named + ["\(more) more notes"] }
    }

    private struct PartialRecord {
        let key: [UInt8]
        let index: Int
        let client: String?
        let time: Timestamp?
        var version: String?
        var notes: Notes
        var requests = 0
        var payload = Array("{\"data\":[".utf8)

        mutating func append(_ canonical: [UInt8], versionName: String?) {
            if requests > 0 { payload.append(UInt8(ascii: ",")) }
            requests += 1
            payload += canonical
            version = versionName ?? version
        }

        consuming func record(from store: Source, applicationID: String?) -> Record {
            payload += "]}".utf8
            var source = store
            source.index = index
            return Record(
                system: .leanplum, type: "multi", id: PayloadHash.id(of: payload), client: client, time: time,
                app: App(id: applicationID, version: version), target: .leanplum, payload: payload, source: source,
                notes: notes.texts)
        }
    }

    /// Creates a builder for the requests in a store.
    package init(from source: Source, applicationID: String? = nil, secret: RunSecret) {
        self.source = source
        self.applicationID = applicationID
        self.secret = secret
    }

    /// Adds the next item, whose JSON text is `text`.
    package mutating func append(_ text: [UInt8], rowid: Int64? = nil, into output: inout ScanOutput) {
        do throws(LeanplumText.TextError) {
            try LeanplumText.read(text, into: &document)
        } catch {
            return skip(error.reason, error.detail, rowid: rowid, into: &output)
        }
        addDocument(rowid: rowid, into: &output)
    }

    /// Adds the next item from a BLOB that contains JSON text, or a keyed archive of JSON text.
    package mutating func append(blob: [UInt8], rowid: Int64, into output: inout ScanOutput) {
        if let text = ArchivedText.read(blob) { return append(text, rowid: rowid, into: &output) }
        do throws(LeanplumText.TextError) {
            try LeanplumText.read(blob, into: &document)
        } catch {
            let isJSON = error.reason == .notObject || error.reason == .emptyObject
            return skip(isJSON ? error.reason : .undecodableBLOB, rowid: rowid, into: &output)
        }
        addDocument(rowid: rowid, into: &output)
    }

    /// Reports all missing items before `index`.
    package mutating func reportMissing(before index: Int, into output: inout ScanOutput) {
        guard index > count else { return }
        let items = index - count == 1 ? "item \(count)" : "items \(count) to \(index - 1)"
        output.report(Problem("missing_item", "\(items) counted, but not there"))
        count = index
    }

    /// Rejects an item that is not a request.
    package mutating func skip(
        _ reason: LeanplumRequestError, _ detail: String? = nil, rowid: Int64? = nil, into output: inout ScanOutput
    ) {
        reject(reason, detail, rowid: rowid, into: &output)
        count += 1
    }

    /// Ends the current record because items may have been lost, and adds `note` to the next record.
    package mutating func endRecord(noting note: String, into output: inout ScanOutput) {
        close(into: &output)
        pendingNotes.append([note], limit: limits.notes)
    }

    /// Ends the last record, and adds it to the output.
    package mutating func finish(into output: inout ScanOutput) {
        close(into: &output)
        guard rejects > Self.maximumNamedRejects else { return }
        output.rejects.append(Reject("skipped \(rejects - Self.maximumNamedRejects) more items that are no requests"))
    }

    // MARK: Requests

    private mutating func addDocument(rowid: Int64?, into output: inout ScanOutput) {
        let removed = document.removeLeanplumCredentials(from: document.root)
        let request = LeanplumRequest(document: document)
        let index = count
        count += 1
        let canonical = document.canonicalBytes(of: document.root)
        var issues = request.issues(&scratch)
        let isOmitted = checkForOmission(request, canonical, &issues, index: index, rowid: rowid, into: &output)
        let notes = (issues + removed).map { "\($0)@\(index)" }
        guard !isOmitted else {
            if partialRecord == nil {
                pendingNotes.append(notes, limit: limits.notes)
            } else {
                partialRecord?.notes.append(notes, limit: limits.notes)
            }
            return
        }
        key.removeAll(keepingCapacity: true)
        request.writeGroupingKey(to: &key)
        if let partialRecord,
            partialRecord.key != key || partialRecord.requests >= limits.requests
                || partialRecord.payload.count + canonical.count > limits.bytes
        {
            close(into: &output)
        }
        if partialRecord == nil {
            partialRecord = PartialRecord(
                key: key, index: index, client: request.deviceID, time: request.time, notes: pendingNotes)
            pendingNotes = Notes()
        }
        partialRecord?.append(canonical, versionName: request.versionName)
        partialRecord?.notes.append(notes, limit: limits.notes)
    }

    /// Returns whether the request must be omitted, because it is a duplicate or has no action.
    ///
    /// Adds a note about a duplicate to `issues`.
    private mutating func checkForOmission(
        _ request: LeanplumRequest, _ canonical: [UInt8], _ issues: inout [String], index: Int, rowid: Int64?,
        into output: inout ScanOutput
    ) -> Bool {
        var isOmitted = false
        if request.action == nil {
            isOmitted = true
            reject(.missingAction, nil, rowid: rowid, index: index, into: &output)
        }
        // A request without an id is identified by its content.
        let identity = request.requestID ?? canonical
        let finding = seen.insert(RecordKey(identity: identity.span, content: canonical.span, secret: secret))
        guard finding != .new else { return isOmitted }
        issues.append("duplicate_request")
        issues.sort()
        if finding == .sameIDOtherPayload, !isOmitted {
            reject(.reusedRequestID, "another request has its reqId", rowid: rowid, index: index, into: &output)
        }
        return true
    }

    private mutating func reject(
        _ reason: LeanplumRequestError, _ detail: String?, rowid: Int64?, index: Int? = nil,
        into output: inout ScanOutput
    ) {
        rejects += 1
        guard rejects <= Self.maximumNamedRejects else { return }
        let row = rowid.map { ", rowid \($0)" } ?? ""
        let words = detail.map { ": \($0)" } ?? ""
        output.rejects.append(Reject("\(reason.rawValue) item \(index ?? count)\(row)\(words)"))
    }

    private mutating func close(into output: inout ScanOutput) {
        guard let finished = partialRecord.take() else { return }
        output.add(finished.record(from: source, applicationID: applicationID))
    }
}
