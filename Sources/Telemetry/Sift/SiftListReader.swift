import JSONText
import PropertyList

/// Reads the lists of events of one archive into requests; an event that cannot be read never costs the others.
///
/// Source: "Sift iOS SDK: on-disk store, list request", sections 9.1 to 9.3, and "Keyed archives: container, object graph,
/// hostile input", D.3.
struct SiftListReader {
    /// Bounds of what an archive may expand to.
    private enum Limit {
        /// More lost events than these are counted, not listed.
        static let problems = 1000
        /// Bytes of requests for each byte of the archive, and so many for a small one.
        static let growth = 8
        static let freeBytes = 16 << 20
    }

    var archive: SiftArchive
    /// What became of the events.
    private(set) var counts = SiftCounts()
    /// The requests that are full, and the one that is being written last.
    private(set) var requests: [SiftRequest] = []
    /// What there is to report.
    private(set) var problems: [Problem] = []
    /// The codes of the events that were left out, with how many, in the order in which they came up.
    private(set) var losses: [(code: String, count: Int)] = []
    /// The time of the newest event that has one within the range of RFC 3339.
    private(set) var newest: Int64 = 0
    /// The event with the newest device properties.
    private var newestDevice: (time: Int64, event: PropertyListNode)?
    private let writers: SiftEntryWriters
    private var client: (node: PropertyListNode, text: String)?
    /// How many values and bytes more may come out of the archive.
    private var values: Int
    private var bytes: Int
    private let byteCount: Int

    /// - Parameter spread: runs the writing of entries.
    init(_ archive: SiftArchive, byteCount: Int, spread: @escaping Spread) {
        self.archive = archive
        self.byteCount = byteCount
        writers = SiftEntryWriters(archive, spread: spread)
        values = archive.archive.document.expansionLimit
        bytes = Limit.growth * byteCount + Limit.freeBytes
    }

    /// Reads a list into a request, or several if it is too large for one.
    ///
    /// Entries are written in batches, several at a time, and settled one after another: whether one is taken depends on
    /// those before it.
    ///
    /// - Parameters:
    ///   - depth: the level of the list in its archive, the root being 1.
    ///   - name: how reports call the list.
    ///   - source: where the events of the list are found.
    ///   - entries: the entries of the batches: those of a batch are put in, those of a queue are looked up.
    /// - Throws: `budget-exceeded` if the whole archive is to be refused.
    mutating func read(
        _ list: KeyedElements, depth: Int, named name: String, source: Source, file: Int,
        entries: inout SiftBatchEntries
    ) throws(PropertyListError) {
        counts.pending += list.count
        // Different events take up more than that in the file; so many are a few, over and over.
        guard list.count <= values / SiftEventBounds.leastValues else {
            throw PropertyListError(
                .budgetExceeded, at: archive.archive.document.offset(of: archive.archive.document.root),
                "a list of \(list.count) events in a file of \(byteCount) bytes")
        }
        // A queue is all of its file, a batch a part of it; requests are about as long as the archive.
        let capacity = source.store == .siftQueue ? byteCount : 0
        var request = SiftRequest(source: source, file: file, capacity: capacity)
        var position = 0
        while position < list.count {
            let batches = writers.write(list, from: position, depth: depth)
            for batch in batches {
                for entry in batch.entries {
                    if request.payload.count > SiftRequest.sizeLimit {
                        requests.append(request)
                        request = SiftRequest(source: source, file: file)
                    }
                    try settle(
                        entry, at: position, batch.text[entry.range], named: name, in: &request, with: &entries)
                    position += 1
                }
            }
            writers.recycle(batches)
        }
        requests.append(request)
    }

    /// Takes an entry into a request, or reports why not.
    /// - Throws: `budget-exceeded` if the whole archive is to be refused.
    private mutating func settle(
        _ entry: SiftEntryBatch.Entry, at position: Int, _ text: ArraySlice<UInt8>, named name: String,
        in request: inout SiftRequest, with entries: inout SiftBatchEntries
    ) throws(PropertyListError) {
        values -= entry.values
        bytes -= text.count + entry.keyBytes
        guard values >= 0, bytes >= 0 else {
            throw PropertyListError(
                .budgetExceeded, at: archive.archive.document.offset(of: archive.archive.document.root),
                "an archive that expands to too much")
        }
        switch entry.outcome {
        case .success(let event) where request.source.store == .siftQueue && entries.absorb(text, time: event.time):
            counts.absorbed += 1
            request.note(.absorbed, at: "event \(position)")
        case .success(let event):
            if request.source.store == .siftUploader { entries.insert(text, time: event.time) }
            request.append(text)
            accept(event, notes: entry.notes, into: &request)
        case .failure(let error):
            lose(position, named: name, error, noting: &request)
        }
    }

    private mutating func accept(_ event: SiftEntryBatch.Event, notes: SiftNotes, into request: inout SiftRequest) {
        counts.emitted += 1
        request.accept(time: event.time, notes: notes)
        if let node = event.client { request.accept(client: text(ofClient: node)) }
        guard let time = Int64(exactly: event.time), Timestamp(milliseconds: time) != nil else { return }
        newest = max(newest, time)
        if event.hasDeviceProperties, time >= newestDevice?.time ?? 0 { newestDevice = (time, event.node) }
    }

    /// The text of an installation id: mostly the one before.
    private mutating func text(ofClient node: PropertyListNode) -> String {
        if let client, archive.archive.document.text(node, equals: client.node) { return client.text }
        let text = archive.archive.document.string(of: node)
        client = (node, text)
        return text
    }

    private mutating func lose(
        _ position: Int, named name: String, _ error: PropertyListError, noting request: inout SiftRequest
    ) {
        let code = error.code.rawValue
        if error.code == .eventSkipped { counts.skipped += 1 } else { counts.lost += 1 }
        request.note(.lost(code: code, reason: error.reason), at: "event \(position)")
        if let known = losses.firstIndex(where: { $0.code == code }) {
            losses[known].count += 1
        } else {
            losses.append((code, 1))
        }
        report(code, "event \(position) of \(name) left out: \(error.reason) at byte \(error.offset)")
    }

    /// Reports something, up to a number of times.
    mutating func report(_ code: String, _ text: String) {
        if problems.count < Limit.problems { problems.append(Problem(code, text)) }
    }

    /// Counts a list that is none.
    mutating func loseList(_ error: PropertyListError, named name: String) {
        losses.append((error.code.rawValue, 1))
        report(error.code.rawValue, "\(name) left out: \(error.reason) at byte \(error.offset)")
    }

    /// How reports call what was left out of the archive.
    var reason: String {
        losses.map { "\($0.code) \($0.count) left out" }.joined(separator: ", ")
    }

    /// Looks at the last event that the queue accepted, which is not pending: its time, and its device properties if
    /// they are the newest. One that cannot be read is of no consequence.
    /// - Returns: the time, if it is within the range of RFC 3339, and the key of the entry, if there is one.
    mutating func readLastEvent() -> (time: Int64?, key: String?) {
        for key in ["lastEvent", "last_event"] {
            guard let stored = try? archive.entry(key) else { continue }
            guard let event = try? archive.event(stored), let milliseconds = Int64(exactly: event.time),
                Timestamp(milliseconds: milliseconds) != nil
            else { return (nil, key) }
            if milliseconds > newestDevice?.time ?? -1, (try? archive.deviceProperties(of: event.node)) ?? nil != nil {
                newestDevice = (milliseconds, event.node)
            }
            return (milliseconds, key)
        }
        return (nil, nil)
    }

    /// The newest device properties, and the time of their event.
    var newestProperties: (time: Int64, pairs: KeyedPairs)? {
        mutating get {
            guard let newestDevice, let pairs = try? archive.deviceProperties(of: newestDevice.event) else {
                return nil
            }
            return (newestDevice.time, pairs)
        }
    }
}
