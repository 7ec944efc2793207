import JSONText
import Telemetry

/// Makes uploads of the items of one store, in the order of the store.
///
/// A record is a run of consecutive requests with equal device, mode and batch id. What is left out neither ends a run nor
/// counts.
///
/// Source: "Leanplum (Mozilla MMA): stored requests and the `multi` upload", section C.2.
package struct LeanplumRequests: Sendable {
    /// The most requests of one `multi` call: the SDK's own limit. Source: "Leanplum (Mozilla MMA): stored requests and the
    /// `multi` upload", section C.4.
    package static let mostInOneCall = 10_000

    /// The size of a record.
    package struct Limits: Sendable {
        /// The maximum number of requests of a record.
        package var requests = LeanplumRequests.mostInOneCall
        /// The size, in bytes, from which on a record ends before the next request. It is also the maximum size of a value of
        /// a property list. A larger payload would be split for the upload.
        package var bytes = 16 << 20
        /// The maximum number of notes of a record. Further notes are counted.
        package var notes = 100_000
    }

    /// How many items have been taken, skipped ones and all.
    package private(set) var count = 0
    private let source: Source
    private let applicationID: String?
    /// The limits of the records, which may be changed before the first item.
    package var limits = Limits()
    private var run: Run?
    /// Notes on items before the first record.
    private var strayNotes = Notes()
    private var seen = DuplicateIndex()
    private let secret: RunSecret
    private var document = JSONDocument()
    private var scratch = JSONDocument()
    private var key: [UInt8] = []
    private var rejects = 0

    /// How many skipped items of a store are named one by one; the others are counted.
    private static let mostRejectsNamed = 100

    /// The notes of a record. What repeats without end, such as one request a million times, is counted.
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

    /// A record in the making.
    private struct Run {
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

    /// Prepares for the items of a store.
    /// - Parameters:
    ///   - source: The source of the store. Each record gets the index of its first item.
    ///   - applicationID: The application id (`app_…`), if the name of the file or a key in the file contains it.
    ///   - secret: Random numbers by which requests are compared.
    package init(from source: Source, applicationID: String? = nil, secret: RunSecret) {
        self.source = source
        self.applicationID = applicationID
        self.secret = secret
    }

    /// Adds the next item, given as JSON text.
    ///
    /// - Parameters:
    ///   - rowid: the row that it was stored in, if it was.
    ///   - output: gets the records that are complete, and what is no request.
    package mutating func append(_ text: [UInt8], rowid: Int64? = nil, into output: inout ScanOutput) {
        do throws(LeanplumText.TextError) {
            try LeanplumText.read(text, into: &document)
        } catch {
            return skip(error.reason, error.detail, rowid: rowid, into: &output)
        }
        addDocument(rowid: rowid, into: &output)
    }

    /// Adds the next item, stored as a BLOB: a keyed archive of a JSON text, or the text itself.
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

    /// Counts items that are not there, up to a number.
    package mutating func miss(until index: Int, into output: inout ScanOutput) {
        guard index > count else { return }
        let items = index - count == 1 ? "item \(count)" : "items \(count) to \(index - 1)"
        output.report(Problem("missing_item", "\(items) counted, but not there"))
        count = index
    }

    /// Counts an item that is no request.
    /// - Parameter detail: what there is to say beyond the reason.
    package mutating func skip(
        _ reason: LeanplumRequestError, _ detail: String? = nil, rowid: Int64? = nil, into output: inout ScanOutput
    ) {
        reject(reason, detail, rowid: rowid, into: &output)
        count += 1
    }

    /// Ends the record in the making, for it is not known what comes next in the store, and notes why on the next one.
    package mutating func interrupt(_ note: String, into output: inout ScanOutput) {
        close(into: &output)
        strayNotes.append([note], limit: limits.notes)
    }

    /// Hands on the last record.
    package mutating func finish(into output: inout ScanOutput) {
        close(into: &output)
        guard rejects > Self.mostRejectsNamed else { return }
        output.rejects.append(Reject("skipped \(rejects - Self.mostRejectsNamed) more items that are no requests"))
    }

    // MARK: Requests

    private mutating func addDocument(rowid: Int64?, into output: inout ScanOutput) {
        let removed = document.removeLeanplumCredentials(from: document.root)
        let request = LeanplumRequest(document: document)
        let index = count
        count += 1
        let canonical = document.canonicalBytes(of: document.root)
        var issues = request.issues(&scratch)
        let isLeftOut = leaveOut(request, canonical, &issues, index: index, rowid: rowid, into: &output)
        let notes = (issues + removed).map { "\($0)@\(index)" }
        guard !isLeftOut else {
            if run == nil {
                strayNotes.append(notes, limit: limits.notes)
            } else {
                run?.notes.append(notes, limit: limits.notes)
            }
            return
        }
        key.removeAll(keepingCapacity: true)
        request.writeRunKey(to: &key)
        if let run,
            run.key != key || run.requests >= limits.requests || run.payload.count + canonical.count > limits.bytes
        {
            close(into: &output)
        }
        if run == nil {
            run = Run(
                key: key, index: index, client: request.deviceID, time: request.time, notes: strayNotes)
            strayNotes = Notes()
        }
        run?.append(canonical, versionName: request.versionName)
        run?.notes.append(notes, limit: limits.notes)
    }

    /// Whether a request has no place in a record: the same came before, or it has no action.
    private mutating func leaveOut(
        _ request: LeanplumRequest, _ canonical: [UInt8], _ issues: inout [String], index: Int, rowid: Int64?,
        into output: inout ScanOutput
    ) -> Bool {
        var isLeftOut = false
        if request.action == nil {
            isLeftOut = true
            reject(.missingAction, nil, rowid: rowid, index: index, into: &output)
        }
        // A request is known by its own id, or else by all of it.
        let identity = request.requestID ?? canonical
        let finding = seen.insert(RecordKey(identity: identity.span, content: canonical.span, secret: secret))
        guard finding != .new else { return isLeftOut }
        issues.append("duplicate_request")
        issues.sort()
        if finding == .sameIDOtherPayload, !isLeftOut {
            reject(.reusedRequestID, "another request has its reqId", rowid: rowid, index: index, into: &output)
        }
        return true
    }

    private mutating func reject(
        _ reason: LeanplumRequestError, _ detail: String?, rowid: Int64?, index: Int? = nil,
        into output: inout ScanOutput
    ) {
        rejects += 1
        guard rejects <= Self.mostRejectsNamed else { return }
        let row = rowid.map { ", rowid \($0)" } ?? ""
        let words = detail.map { ": \($0)" } ?? ""
        output.rejects.append(Reject("\(reason.rawValue) item \(index ?? count)\(row)\(words)"))
    }

    private mutating func close(into output: inout ScanOutput) {
        guard let finished = run.take() else { return }
        output.add(finished.record(from: source, applicationID: applicationID))
    }
}
