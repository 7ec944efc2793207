import PropertyList
import Synchronization
import Telemetry

/// Puts the written events of one archive into requests, one after another, or reports why not.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 9.1 to 9.3.
struct SiftSettlement: Sendable {
    /// Bounds of what an archive may expand to.
    private enum Limit {
        /// How many lost events are listed; the others are only counted.
        static let problems = 1000
        /// How many bytes of requests each byte of the archive may give, and how many bytes even a small archive may give.
        static let growth = 8
        static let freeBytes = 16 << 20
    }

    private let document: PropertyListDocument
    private let byteCount: Int
    private(set) var counts = SiftCounts()
    /// The requests that are full, and the one that is being written last.
    private(set) var requests: [SiftRequest] = []
    private(set) var problems: [Problem] = []
    /// How many events were left out for which reason, by the code of the reason, in the order in which the codes came up.
    private(set) var losses: [(code: String, count: Int)] = []
    /// The time of the newest event that has one within the range of RFC 3339.
    private(set) var newest: Int64 = 0
    /// The event with the newest device properties.
    private(set) var newestDevice: (time: Int64, event: PropertyListNode)?
    /// Why the whole archive is refused.
    private(set) var error: PropertyListError?
    private var client: (node: PropertyListNode, text: String)?
    /// How many more values and bytes may come out of the archive.
    private var values: Int
    private var bytes: Int
    /// The name of the list that is being settled, as reports call it, and the position in it.
    private var name = ""
    private var position = 0
    /// The entries of the batches. Entries of a batch are added here, entries of a queue are looked up.
    private var batchEntries: SiftBatchEntries

    init(of document: PropertyListDocument, byteCount: Int, batchEntries: consuming SiftBatchEntries) {
        self.batchEntries = consume batchEntries
        self.document = document
        self.byteCount = byteCount
        values = document.expansionLimit
        bytes = Limit.growth * byteCount + Limit.freeBytes
    }

    /// Begins a list and a request.
    /// - Throws: `budget-exceeded` for more events than there can be.
    mutating func begin(_ count: Int, named name: String, source: Source, part: Int) throws(PropertyListError) {
        counts.pending += count
        // So many different events would not fit in the file: it must be a few events, listed over and over.
        guard count <= values / SiftEventBounds.leastValues else {
            throw exceeded("a list of \(count) events in a file of \(byteCount) bytes")
        }
        // A queue is all of its file, a batch a part of it; requests are about as long as the archive.
        let capacity = source.store == .siftQueue ? byteCount : 0
        requests.append(SiftRequest(source: source, part: part, capacity: capacity))
        (self.name, position) = (name, 0)
    }

    mutating func takeBatchEntries() -> SiftBatchEntries {
        defer { batchEntries = SiftBatchEntries() }
        return batchEntries
    }

    /// Settles batches that follow one another, up to the first event by which the archive is to be refused.
    mutating func settle(_ batches: [SiftEntryBatch]) {
        do throws(PropertyListError) {
            for batch in batches {
                for entry in batch.entries {
                    try settle(entry, batch.text[entry.range])
                    position += 1
                }
            }
        } catch {
            self.error = error
        }
    }

    /// Adds an entry to the last request, or reports why not.
    /// - Throws: `budget-exceeded` if the whole archive is to be refused.
    private mutating func settle(_ entry: SiftEntryBatch.Entry, _ text: ArraySlice<UInt8>) throws(PropertyListError) {
        values -= entry.values
        bytes -= text.count + entry.keyBytes
        guard values >= 0, bytes >= 0 else { throw exceeded("an archive that expands to too much") }
        if requests[last].payload.count > SiftRequest.sizeLimit {
            requests.append(SiftRequest(source: requests[last].source, part: requests[last].part))
        }
        let store = requests[last].source.store
        switch entry.outcome {
        case .success(let event) where store == .siftQueue && batchEntries.absorb(text, time: event.time):
            counts.absorbed += 1
            requests[last].note(.absorbed, at: "event \(position)")
        case .success(let event):
            if store == .siftUploader { batchEntries.insert(text, time: event.time) }
            requests[last].append(text)
            accept(event, notes: entry.notes)
        case .failure(let error):
            lose(error)
        }
    }

    /// The place, among the requests, of the one that is being written.
    private var last: Int { requests.count - 1 }

    private func exceeded(_ reason: String) -> PropertyListError {
        PropertyListError(.budgetExceeded, at: document.offset(of: document.root), reason)
    }

    private mutating func accept(_ event: SiftEntryBatch.Event, notes: SiftNotes) {
        counts.emitted += 1
        requests[last].accept(time: event.time, notes: notes)
        if let node = event.client { requests[last].accept(client: text(ofClient: node)) }
        guard let time = Int64(exactly: event.time), Timestamp(milliseconds: time) != nil else { return }
        newest = max(newest, time)
        if event.hasDeviceProperties, time >= newestDevice?.time ?? 0 { newestDevice = (time, event.node) }
    }

    /// Remembers the device properties of an event that does not wait any more, if they are the newest.
    mutating func see(deviceAt time: Int64, _ event: PropertyListNode) {
        if time > newestDevice?.time ?? -1 { newestDevice = (time, event) }
    }

    /// The text of an installation id: mostly the one before.
    private mutating func text(ofClient node: PropertyListNode) -> String {
        if let client, document.text(node, equals: client.node) { return client.text }
        let text = document.string(of: node)
        client = (node, text)
        return text
    }

    private mutating func lose(_ error: PropertyListError) {
        let code = error.code.rawValue
        if error.code == .eventSkipped { counts.skipped += 1 } else { counts.lost += 1 }
        requests[last].note(.lost(code: code, reason: error.reason), at: "event \(position)")
        if let known = losses.firstIndex(where: { $0.code == code }) {
            losses[known].count += 1
        } else {
            losses.append((code, 1))
        }
        report(code, "event \(position) of \(name) left out: \(error.reason)", at: error.offset)
    }

    /// Reports something, unless as much as is listed was reported already.
    private mutating func report(_ code: String, _ text: String, at offset: Int) {
        guard problems.count < Limit.problems else { return }
        problems.append(Problem(code, "\(text) at byte \(offset)", at: offset))
    }

    /// Counts what stands where a list has to be.
    mutating func loseList(_ error: PropertyListError, named name: String) {
        losses.append((error.code.rawValue, 1))
        report(error.code.rawValue, "\(name) left out: \(error.reason)", at: error.offset)
    }

    /// The words for what was left out of the archive.
    var reason: String {
        losses.map { "\($0.code) \($0.count) left out" }.joined(separator: ", ")
    }
}

/// A settlement that threads take turns with: one settles what is written while the others write what comes next.
final class SharedSettlement: Sendable {
    private let settlement: Mutex<SiftSettlement>

    init(_ settlement: consuming SiftSettlement) {
        self.settlement = Mutex(consume settlement)
    }

    /// Works on the settlement. Another thread waits until it is done.
    func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout SiftSettlement) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try settlement.withLock { settlement throws(Failure) in try body(&settlement) }
    }
}
