import Bytes
import PropertyList
import Synchronization
import Telemetry

/// An assembler that adds the entries of one archive to requests, and reports omitted events.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 9.1 to 9.3.
struct SiftRequestAssembler: Sendable {
    private enum Limit {
        /// The maximum number of lost events that are reported individually.
        static let problemCount = 1000
        /// The maximum number of request bytes for each byte of the archive, in addition to ``baseBytes``.
        static let bytesPerArchiveByte = 8
        /// The number of request bytes that are allowed for an archive of any size.
        static let baseBytes = 16 << 20
    }

    private let document: PropertyListDocument
    private let byteCount: Int
    private(set) var counts = SiftEventCounts()
    /// The requests so far, including the last request, to which entries are still added.
    private(set) var requests: [SiftRequest] = []
    private(set) var problems: [Problem] = []
    /// The number of lost events and lists for each reason code, in the order of the first occurrence.
    private(set) var losses: [(code: String, count: Int)] = []
    /// The time of the newest event whose time RFC 3339 can express, in milliseconds since 1970.
    private(set) var newestTime: Int64 = 0
    /// The event with the newest device properties, or `nil` if no event has device properties.
    private(set) var newestDeviceEvent: (time: Int64, event: PropertyListNode)?
    /// The reason for rejecting the whole archive, or `nil` if the archive is not rejected.
    private(set) var error: PropertyListError?
    private var lastClient: (node: PropertyListNode, text: String)?
    /// The budget for values and bytes, after which the archive is rejected.
    private(set) var budget: WorkBudget
    /// The name of the current list in reports.
    private var listName = ""
    /// The index of the next entry in the current list.
    private var entryPosition = 0
    /// The entries of the batches, which replace equal events of queues.
    private var batchEntries: SiftBatchEntries

    init(of document: PropertyListDocument, byteCount: Int, batchEntries: consuming SiftBatchEntries) {
        self.batchEntries = consume batchEntries
        self.document = document
        self.byteCount = byteCount
        budget = WorkBudget(
            nodes: document.expansionLimit, bytes: Limit.bytesPerArchiveByte * byteCount + Limit.baseBytes)
    }

    /// Begins a request for a list, or throws an error if the archive is too small for `count` events.
    mutating func beginList(ofCount count: Int, named name: String, source: Source, part: Int) throws(PropertyListError)
    {
        counts.pending += count
        // A file of this size cannot contain that many different events, so the list must repeat references to events.
        guard count <= budget.remainingNodeCount / SiftEventBounds.minimumValueCount else {
            throw budgetError("a list of \(count) events in a file of \(byteCount) bytes")
        }
        // A queue fills its file, so its request is about as large as the file. A batch is only a part of a file.
        let capacity = source.store == .siftQueue ? byteCount : 0
        requests.append(SiftRequest(source: source, part: part, capacity: capacity))
        (listName, entryPosition) = (name, 0)
    }

    mutating func takeBatchEntries() -> SiftBatchEntries {
        defer { batchEntries = SiftBatchEntries() }
        return batchEntries
    }

    /// Adds consecutive batches of entries, up to the first entry that exceeds the limits of the archive.
    mutating func add(_ batches: [SiftEntryBatch]) {
        do throws(PropertyListError) {
            for batch in batches {
                for entry in batch.entries {
                    try add(entry, batch.text[entry.range])
                    entryPosition += 1
                }
            }
        } catch {
            self.error = error
        }
    }

    /// Adds an entry to the last request, or reports why the event is omitted.
    private mutating func add(_ entry: SiftEntryBatch.Entry, _ text: ArraySlice<UInt8>) throws(PropertyListError) {
        guard budget.charge(nodes: entry.valueCount, bytes: text.count + entry.longKeyByteCount) else {
            throw budgetError("an archive that expands to too much")
        }
        if requests[lastIndex].isFull {
            requests.append(SiftRequest(source: requests[lastIndex].source, part: requests[lastIndex].part))
        }
        let store = requests[lastIndex].source.store
        switch entry.outcome {
        case .success(let event) where store == .siftQueue && batchEntries.removeEntry(equalTo: text, time: event.time):
            counts.absorbed += 1
            requests[lastIndex].note(.absorbedEvent, at: "event \(entryPosition)")
        case .success(let event):
            if store == .siftUploader { batchEntries.insert(text, time: event.time) }
            requests[lastIndex].append(text, valueCount: entry.valueCount)
            addFacts(of: event, notes: entry.notes)
        case .failure(let error):
            addLoss(error)
        }
    }

    /// The index of the request that entries are added to.
    private var lastIndex: Int { requests.count - 1 }

    private func budgetError(_ reason: String) -> PropertyListError {
        document.error(.budgetExceeded, at: document.root, reason)
    }

    private mutating func addFacts(of event: SiftEntryBatch.Event, notes: SiftNotes) {
        counts.emitted += 1
        requests[lastIndex].addFacts(time: event.time, notes: notes)
        if let node = event.clientNode { requests[lastIndex].add(client: text(ofClient: node)) }
        guard let time = Int64(exactly: event.time), Timestamp(milliseconds: time) != nil else { return }
        newestTime = max(newestTime, time)
        if event.hasDeviceProperties, time >= newestDeviceEvent?.time ?? 0 { newestDeviceEvent = (time, event.node) }
    }

    /// Sets ``newestDeviceEvent`` to an event that is not pending if the device properties of the event are the newest.
    mutating func addDevice(_ event: PropertyListNode, at time: Int64) {
        if time > newestDeviceEvent?.time ?? -1 { newestDeviceEvent = (time, event) }
    }

    /// Returns the client id at `node`, reusing the last string if the id is unchanged, as in most events.
    private mutating func text(ofClient node: PropertyListNode) -> String {
        if let lastClient, document.text(node, equals: lastClient.node) { return lastClient.text }
        let text = document.string(of: node)
        lastClient = (node, text)
        return text
    }

    private mutating func addLoss(_ error: PropertyListError) {
        let code = error.code.rawValue
        if error.code == .eventSkipped { counts.skipped += 1 } else { counts.lost += 1 }
        requests[lastIndex].note(
            .lostEvent(code: CapturedText(code), reason: CapturedText(error.reason)), at: "event \(entryPosition)")
        if let known = losses.firstIndex(where: { $0.code == code }) {
            losses[known].count += 1
        } else {
            losses.append((code, 1))
        }
        report(code, "event \(entryPosition) of \(listName) left out: \(error.reason)", at: error.offset)
    }

    /// Reports a problem, unless the maximum number of problems is reached.
    private mutating func report(_ code: String, _ text: String, at offset: Int) {
        guard problems.count < Limit.problemCount else { return }
        problems.append(Problem(code, "\(text) at byte \(offset)", at: offset))
    }

    /// Reports a list that cannot be read.
    mutating func addLostList(_ error: PropertyListError, named name: String) {
        losses.append((error.code.rawValue, 1))
        report(error.code.rawValue, "\(name) left out: \(error.reason)", at: error.offset)
    }

    /// A text that contains the number of lost events and lists for each reason code.
    var rejectReason: String { losses.map { "\($0.code) \($0.count) left out" }.joined(separator: ", ") }
}

/// A request assembler that one thread uses while other threads write the next batches.
final class SharedRequestAssembler: Sendable {
    private let assembler: Mutex<SiftRequestAssembler>

    init(_ assembler: consuming SiftRequestAssembler) {
        self.assembler = Mutex(consume assembler)
    }

    /// Calls `body` with exclusive access to the assembler.
    func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout SiftRequestAssembler) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try assembler.withLock { assembler throws(Failure) in try body(&assembler) }
    }
}

/// The number of events in a file for each result.
struct SiftEventCounts {
    /// The number of events in the file, including events that are omitted.
    var pending = 0
    /// The number of events that were added to requests.
    var emitted = 0
    /// The number of events in a queue that were omitted because a batch also contains them.
    var absorbed = 0
    /// The number of events that the SDK itself would reject.
    var skipped = 0
    /// The number of events that cannot be read.
    var lost = 0

    /// The number of events for each name that is used in reports.
    var byName: [CapturedText: Int] {
        ["absorbed": absorbed, "emitted": emitted, "lost": lost, "pending": pending, "skipped": skipped]
    }
}
